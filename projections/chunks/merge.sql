-- One batch of CHUNKS. See catalog/merge.sql: names, sources and "opened replaces" are the same.

INSERT INTO backbone_name (name)
SELECT DISTINCT backbone FROM stage_chunks_source s
 WHERE NOT EXISTS (SELECT FROM backbone_name b WHERE b.name = s.backbone) ORDER BY 1;

INSERT INTO group_name (name)
SELECT DISTINCT group_name FROM stage_chunks_source s
 WHERE NOT EXISTS (SELECT FROM group_name g WHERE g.name = s.group_name) ORDER BY 1;

INSERT INTO source (group_id, backbone_id, epoch, lo, hi, run, pass)
SELECT g.id, b.id, s.epoch, s.lo, s.hi, 0, 0
  FROM stage_chunks_source s
  JOIN backbone_name b ON b.name = s.backbone
  JOIN group_name g ON g.name = s.group_name
 WHERE NOT EXISTS (SELECT FROM source o
                    WHERE (o.group_id, o.backbone_id, o.epoch, o.lo, o.hi) = (g.id, b.id, s.epoch, s.lo, s.hi))
 ORDER BY 1, 2, 3, 4, 5;

INSERT INTO stage_chunks_resolved (n, source_id, old_run, raised, run, pass)
SELECT s.n, o.id, o.run, (s.run, s.pass) > (o.run, o.pass),
       CASE WHEN (s.run, s.pass) > (o.run, o.pass) THEN s.run ELSE o.run END,
       CASE WHEN (s.run, s.pass) > (o.run, o.pass) THEN s.pass ELSE o.pass END
  FROM stage_chunks_source s
  JOIN backbone_name b ON b.name = s.backbone
  JOIN group_name g ON g.name = s.group_name
  JOIN source o ON (o.group_id, o.backbone_id, o.epoch, o.lo, o.hi) = (g.id, b.id, s.epoch, s.lo, s.hi);

DELETE FROM chunk c USING stage_chunks_resolved r WHERE c.source_id = r.source_id AND r.raised AND r.old_run > 0;

UPDATE source s SET run = r.run, pass = r.pass FROM stage_chunks_resolved r WHERE s.id = r.source_id AND r.raised;

-- The months that the batch needs. Made apart and attached: a reader is kept waiting only for the attaching.
DO $$
DECLARE
  month date;
  name text;
  from_ms bigint;
  to_ms bigint;
BEGIN
  FOR month IN
    SELECT DISTINCT date_trunc('month', to_timestamp(first_at / 1000) AT TIME ZONE 'UTC')::date
      FROM stage_chunks_chunk WHERE first_at >= 946684800000 AND first_at < 4102444800000
     ORDER BY 1
  LOOP
    name := 'chunk_' || to_char(month, 'YYYY_MM');
    -- The tables of another build of this projection have the same names in another schema.
    CONTINUE WHEN EXISTS (SELECT FROM pg_class WHERE relname = name AND relnamespace = current_schema()::regnamespace);
    from_ms := extract(epoch FROM month::timestamp AT TIME ZONE 'UTC') * 1000;
    to_ms := extract(epoch FROM (month + interval '1 month')::timestamp AT TIME ZONE 'UTC') * 1000;
    EXECUTE format('CREATE TABLE %I.%I (LIKE chunk INCLUDING DEFAULTS INCLUDING STORAGE)', current_schema(), name);
    EXECUTE format('ALTER TABLE chunk ATTACH PARTITION %I.%I FOR VALUES FROM (%s) TO (%s)', current_schema(), name,
                   from_ms, to_ms);
  END LOOP;
END $$;

INSERT INTO chunk (key, source_id, posting, k, first_at, last_at, segments, payload)
SELECT c.key, r.source_id, c.posting, c.k, c.first_at, c.last_at, c.segments, c.payload
  FROM stage_chunks_chunk c
  JOIN stage_chunks_resolved r ON r.n = c.source_n
 WHERE (c.run, c.pass) = (r.run, r.pass)
 ORDER BY c.key, r.source_id, c.posting, c.k
ON CONFLICT DO NOTHING;
