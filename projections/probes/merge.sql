-- One batch of RELEASES into the probe queue. See catalog/merge.sql: names, sources, "opened replaces", and which joins the
-- planner is told to use are the same.
SET LOCAL enable_hashjoin = off;
SET LOCAL enable_mergejoin = off;

INSERT INTO backbone_name (name)
SELECT DISTINCT backbone FROM stage_probes_source s
 WHERE NOT EXISTS (SELECT FROM backbone_name b WHERE b.name = s.backbone) ORDER BY 1;

INSERT INTO group_name (name)
SELECT DISTINCT group_name FROM stage_probes_source s
 WHERE NOT EXISTS (SELECT FROM group_name g WHERE g.name = s.group_name) ORDER BY 1;

INSERT INTO source (group_id, backbone_id, epoch, lo, hi, run, pass)
SELECT g.id, b.id, s.epoch, s.lo, s.hi, 0, 0
  FROM stage_probes_source s
  JOIN backbone_name b ON b.name = s.backbone
  JOIN group_name g ON g.name = s.group_name
 WHERE NOT EXISTS (SELECT FROM source o
                    WHERE (o.group_id, o.backbone_id, o.epoch, o.lo, o.hi) = (g.id, b.id, s.epoch, s.lo, s.hi))
 ORDER BY 1, 2, 3, 4, 5;

INSERT INTO stage_probes_resolved (n, source_id, old_run, raised, run, pass)
SELECT s.n, o.id, o.run, (s.run, s.pass) > (o.run, o.pass),
       CASE WHEN (s.run, s.pass) > (o.run, o.pass) THEN s.run ELSE o.run END,
       CASE WHEN (s.run, s.pass) > (o.run, o.pass) THEN s.pass ELSE o.pass END
  FROM stage_probes_source s
  JOIN backbone_name b ON b.name = s.backbone
  JOIN group_name g ON g.name = s.group_name
  JOIN source o ON (o.group_id, o.backbone_id, o.epoch, o.lo, o.hi) = (g.id, b.id, s.epoch, s.lo, s.hi);

-- 1. Candidates that a higher pair withdraws, and those of the pair that the batch ends with.
WITH gone AS (
  DELETE FROM candidate c USING stage_probes_resolved r
   WHERE c.source_id = r.source_id AND r.raised AND r.old_run > 0
  RETURNING c.key)
INSERT INTO stage_probes_affected (key) SELECT DISTINCT key FROM gone;

UPDATE source s SET run = r.run, pass = r.pass FROM stage_probes_resolved r WHERE s.id = r.source_id AND r.raised;

SET LOCAL enable_hashjoin = on;
SET LOCAL enable_mergejoin = on;
SET LOCAL enable_nestloop = off;

WITH live AS (
  INSERT INTO candidate
    (key, source_id, kind, message_id, position, at, rank, part, bytes, first_at, last_at, preference, random, file_hash)
  SELECT DISTINCT ON (c.key, r.source_id, c.kind, c.message_id COLLATE "C")
         c.key, r.source_id, c.kind, c.message_id, c.position, c.at, c.rank, c.part, c.bytes, c.first_at, c.last_at,
         c.preference, c.random, c.file_hash
    FROM stage_probes_candidate c
    JOIN stage_probes_resolved r ON r.n = c.source_n
   WHERE (c.run, c.pass) = (r.run, r.pass)
   ORDER BY c.key, r.source_id, c.kind, c.message_id COLLATE "C", c.n
  ON CONFLICT DO NOTHING
  RETURNING key)
INSERT INTO stage_probes_affected (key) SELECT DISTINCT key FROM live;

INSERT INTO stage_probes_affected (key) SELECT DISTINCT key FROM stage_probes_settled;
INSERT INTO stage_probes_key (key) SELECT DISTINCT key FROM stage_probes_affected ORDER BY key;
ANALYZE stage_probes_key;

SET LOCAL enable_hashjoin = off;
SET LOCAL enable_mergejoin = off;
SET LOCAL enable_nestloop = on;

-- 2. Settlements. Only candidates that came before one can be settled by it, and no candidate gets older: once there is no
-- such candidate a settlement tells nothing any more. A later one replaces those less than 3 days (259,200,000 ms) away.
INSERT INTO settled (key, position, n, first_at, last_at)
SELECT s.key, s.position, s.n, s.first_at, s.last_at FROM stage_probes_settled s
 WHERE EXISTS (SELECT FROM candidate c WHERE c.key = s.key AND c.position < s.position)
 ORDER BY s.key, s.position, s.n
ON CONFLICT DO NOTHING;

DELETE FROM settled s USING stage_probes_key k
 WHERE s.key = k.key
   AND (NOT EXISTS (SELECT FROM candidate c WHERE c.key = s.key AND c.position < s.position)
        OR EXISTS (SELECT FROM settled t
                    WHERE t.key = s.key AND (t.position, t.n) > (s.position, s.n)
                      AND t.first_at - s.last_at < 259200000 AND s.first_at - t.last_at < 259200000));

-- 3. Releases: the candidates of a key less than 3 days apart.
INSERT INTO stage_probes_member
  (key, component, position, at, rank, part, bytes, first_at, last_at, preference, random, kind, message_id, file_hash)
WITH live AS (
  SELECT c.* FROM stage_probes_key k JOIN candidate c ON c.key = k.key),
spans AS (
  SELECT live.*, coalesce(first_at - max(last_at) OVER (
           PARTITION BY key ORDER BY first_at, last_at, source_id, kind, message_id
           ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) >= 259200000, true) AS apart
    FROM live)
SELECT key, count(*) FILTER (WHERE apart) OVER (
         PARTITION BY key ORDER BY first_at, last_at, source_id, kind, message_id),
       position, at, rank, part, bytes, first_at, last_at, preference, random, kind, message_id, file_hash
  FROM spans;
ANALYZE stage_probes_member (key);

INSERT INTO stage_probes_release (key, component, first_at, last_at, settled)
SELECT r.key, r.component, r.first_at, r.last_at,
       EXISTS (SELECT FROM settled s WHERE s.key = r.key AND s.position > r.position
                                       AND s.first_at <= r.last_at AND s.last_at >= r.first_at)
  FROM (SELECT key, component, min(first_at) AS first_at, max(last_at) AS last_at, max(position) AS position
          FROM stage_probes_member GROUP BY key, component) r;
ANALYZE stage_probes_release (key);

-- What the queue has of these keys now, out of the large table.
INSERT INTO stage_probes_row (key, kind, message_id, attempts)
SELECT p.key, p.kind, p.message_id, p.attempts
  FROM stage_probes_key k JOIN probe p ON p.key = k.key
 WHERE p.chosen;
ANALYZE stage_probes_row (key);

SET LOCAL enable_hashjoin = on;
SET LOCAL enable_mergejoin = on;
SET LOCAL enable_nestloop = off;

-- 4. Of each release the best per kind. The keys behind the message-id only make sources end alike that say the same
-- article differently; one that stands in two releases, by two dates, is read for the earlier.
INSERT INTO stage_probes_chosen
  (key, kind, message_id, file_hash, part, bytes, random, first_at, last_at, at, priority)
WITH best AS (
  SELECT DISTINCT ON (key, component, kind) * FROM stage_probes_member
   ORDER BY key, component, kind, rank, message_id COLLATE "C", at, first_at, last_at, file_hash, part, bytes, random)
SELECT DISTINCT ON (key, kind, message_id)
       key, b.kind, b.message_id, b.file_hash, b.part, b.bytes, b.random, r.first_at, r.last_at, b.at,
       b.preference + CASE WHEN r.settled THEN 0 ELSE 8 END
  FROM best b JOIN stage_probes_release r USING (key, component)
 ORDER BY key, kind, message_id, component;
ANALYZE stage_probes_chosen (key);

INSERT INTO stage_probes_gone (key, kind, message_id, attempts)
SELECT r.key, r.kind, r.message_id, r.attempts FROM stage_probes_row r
 WHERE NOT EXISTS (SELECT FROM stage_probes_chosen c
                    WHERE c.key = r.key AND c.kind = r.kind AND c.message_id = r.message_id);
ANALYZE stage_probes_gone (key);

SET LOCAL enable_hashjoin = off;
SET LOCAL enable_mergejoin = off;
SET LOCAL enable_nestloop = on;

-- 5. The queue. A row that nothing is known of is as good as none: with it, what an article that was the best for a moment
-- leaves behind would depend on where a batch ends. One with attempts stays, and goes on when it is chosen again.
DELETE FROM probe p USING stage_probes_gone g
 WHERE p.key = g.key AND p.kind = g.kind AND p.message_id = g.message_id AND g.attempts = 0;

UPDATE probe p SET chosen = false FROM stage_probes_gone g
 WHERE p.key = g.key AND p.kind = g.kind AND p.message_id = g.message_id AND g.attempts > 0;

INSERT INTO probe AS p
  (key, kind, message_id, file_hash, part, bytes, random, first_at, last_at, next_attempt_at, priority)
SELECT key, kind, message_id, file_hash, part, bytes, random, first_at, last_at, at, priority
  FROM stage_probes_chosen ORDER BY key, kind, message_id
ON CONFLICT (key, kind, message_id) DO UPDATE SET
  file_hash = excluded.file_hash, part = excluded.part, bytes = excluded.bytes, random = excluded.random,
  first_at = excluded.first_at, last_at = excluded.last_at, priority = excluded.priority, chosen = true,
  next_attempt_at = CASE WHEN p.attempts = 0 THEN excluded.next_attempt_at ELSE p.next_attempt_at END
WHERE NOT p.chosen
   OR (p.file_hash, p.part, p.bytes, p.random, p.first_at, p.last_at, p.priority)
      IS DISTINCT FROM
      (excluded.file_hash, excluded.part, excluded.bytes, excluded.random, excluded.first_at, excluded.last_at,
       excluded.priority)
   OR (p.attempts = 0 AND p.next_attempt_at <> excluded.next_attempt_at);
