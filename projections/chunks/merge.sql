-- One batch of CHUNKS. See catalog/merge.sql: names, sources, "opened replaces" and merges are the same.
SET LOCAL enable_hashjoin = off;
SET LOCAL enable_mergejoin = off;

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

INSERT INTO stage_chunks_gone (source_id)
SELECT p.merge_source FROM stage_chunks_resolved r JOIN merge_piece p ON p.source_id = r.source_id
 WHERE r.raised AND r.old_run > 0
 UNION
SELECT source_id FROM stage_chunks_replaced;

DELETE FROM chunk c
 USING (SELECT source_id FROM stage_chunks_resolved WHERE raised AND old_run > 0
         UNION ALL SELECT source_id FROM stage_chunks_gone) r
 WHERE c.source_id = r.source_id;

DELETE FROM merge_piece p USING stage_chunks_gone g WHERE p.merge_source = g.source_id;
DELETE FROM source s USING stage_chunks_gone g WHERE s.id = g.source_id;

UPDATE source s SET run = r.run, pass = r.pass FROM stage_chunks_resolved r WHERE s.id = r.source_id AND r.raised;

INSERT INTO source (group_id, backbone_id, epoch, run, pass, revision, merge_id, file_hash)
SELECT g.id, b.id, m.epoch, 0, 0, m.revision, m.merge_id, m.file_hash
  FROM stage_chunks_merge m
  JOIN backbone_name b ON b.name = m.backbone
  JOIN group_name g ON g.name = m.group_name
 WHERE m.live ORDER BY m.n DESC;

INSERT INTO stage_chunks_resolved (n, source_id, old_run, raised, run, pass)
SELECT m.n, s.id, 0, false, 0, 0 FROM stage_chunks_merge m JOIN source s ON s.merge_id = m.merge_id WHERE m.live;

INSERT INTO merge_piece (merge_source, source_id, posting, file_hash)
SELECT r.source_id, o.id, p.posting, m.file_hash
  FROM stage_chunks_piece p
  JOIN stage_chunks_merge m ON m.n = p.n
  JOIN stage_chunks_resolved r ON r.n = p.n
  JOIN source s ON s.id = r.source_id
  JOIN source o ON (o.group_id, o.backbone_id, o.epoch, o.lo, o.hi) = (s.group_id, s.backbone_id, s.epoch, p.lo, p.hi)
ON CONFLICT DO NOTHING;

SET LOCAL enable_hashjoin = on;
SET LOCAL enable_mergejoin = on;

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
