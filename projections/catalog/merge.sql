-- One batch of RELEASES into the catalog. Set-based and ordered by key; only the keys of contributions that came or went
-- are recomputed. The result is a function of the events in their order, never of where a batch begins.
--
-- The planner is told which joins to use, since it knows too little of staged rows. Where they look into large tables:
-- nested loops by an index, whose cost does not grow with the table. Where they are joined with each other: anything but
-- nested loops, which a wrong guess would make quadratic.
SET LOCAL enable_hashjoin = off;
SET LOCAL enable_mergejoin = off;

-- 1. Names. The anti-joins keep the sequences from burning a number for each name that is known.
INSERT INTO backbone_name (name)
SELECT DISTINCT backbone FROM stage_catalog_source s
 WHERE NOT EXISTS (SELECT FROM backbone_name b WHERE b.name = s.backbone) ORDER BY 1;

INSERT INTO group_name (name)
SELECT DISTINCT name FROM stage_catalog_group s
 WHERE NOT EXISTS (SELECT FROM group_name g WHERE g.name = s.name) ORDER BY 1;

-- 2. Sources, with the pair they had before and the one that the batch ends with.
INSERT INTO source (group_id, backbone_id, epoch, lo, hi, run, pass)
SELECT g.id, b.id, s.epoch, s.lo, s.hi, 0, 0
  FROM stage_catalog_source s
  JOIN backbone_name b ON b.name = s.backbone
  JOIN group_name g ON g.name = s.group_name
 WHERE NOT EXISTS (SELECT FROM source o
                    WHERE (o.group_id, o.backbone_id, o.epoch, o.lo, o.hi) = (g.id, b.id, s.epoch, s.lo, s.hi))
 ORDER BY 1, 2, 3, 4, 5;

INSERT INTO stage_catalog_resolved (n, source_id, old_run, old_pass, run, pass)
SELECT s.n, o.id, o.run, o.pass,
       CASE WHEN (s.run, s.pass) > (o.run, o.pass) THEN s.run ELSE o.run END,
       CASE WHEN (s.run, s.pass) > (o.run, o.pass) THEN s.pass ELSE o.pass END
  FROM stage_catalog_source s
  JOIN backbone_name b ON b.name = s.backbone
  JOIN group_name g ON g.name = s.group_name
  JOIN source o ON (o.group_id, o.backbone_id, o.epoch, o.lo, o.hi) = (g.id, b.id, s.epoch, s.lo, s.hi);

-- 3. Opened replaces: a higher pair withdraws all that the source contributed so far, and the merges that have a piece of it.
-- So does a merge with the merges that it replaces.
INSERT INTO stage_catalog_gone (source_id)
SELECT p.merge_source FROM stage_catalog_resolved r JOIN merge_piece p ON p.source_id = r.source_id
 WHERE (r.run, r.pass) > (r.old_run, r.old_pass) AND r.old_run > 0
 UNION
SELECT source_id FROM stage_catalog_replaced;

WITH gone AS (
  DELETE FROM contribution c
   USING (SELECT source_id FROM stage_catalog_resolved
           WHERE (run, pass) > (old_run, old_pass) AND old_run > 0
           UNION ALL SELECT source_id FROM stage_catalog_gone) r
   WHERE c.source_id = r.source_id
  RETURNING c.key)
INSERT INTO stage_catalog_affected (key) SELECT DISTINCT key FROM gone;

DELETE FROM merge_piece p USING stage_catalog_gone g WHERE p.merge_source = g.source_id;
DELETE FROM source s USING stage_catalog_gone g WHERE s.id = g.source_id;

UPDATE source s SET run = r.run, pass = r.pass
  FROM stage_catalog_resolved r
 WHERE s.id = r.source_id AND (r.run, r.pass) > (r.old_run, r.old_pass);

-- Merges of this batch. project.ts decided which were accepted and which live on; the others only have births.
INSERT INTO source (group_id, backbone_id, epoch, run, pass, revision, merge_id, file_hash)
SELECT g.id, b.id, m.epoch, 0, 0, m.revision, m.merge_id, m.file_hash
  FROM stage_catalog_merge m
  JOIN backbone_name b ON b.name = m.backbone
  JOIN group_name g ON g.name = m.group_name
 WHERE m.live ORDER BY m.n DESC;

INSERT INTO stage_catalog_resolved (n, source_id, old_run, old_pass, run, pass)
SELECT m.n, s.id, 0, 0, CASE WHEN m.live THEN 0 ELSE -1 END, 0
  FROM stage_catalog_merge m LEFT JOIN source s ON s.merge_id = m.merge_id AND m.live;

INSERT INTO merge_piece (merge_source, source_id, posting, file_hash)
SELECT r.source_id, o.id, p.posting, m.file_hash
  FROM stage_catalog_piece p
  JOIN stage_catalog_merge m ON m.n = p.n
  JOIN stage_catalog_resolved r ON r.n = p.n
  JOIN source s ON s.id = r.source_id
  JOIN source o ON (o.group_id, o.backbone_id, o.epoch, o.lo, o.hi) = (s.group_id, s.backbone_id, s.epoch, p.lo, p.hi)
ON CONFLICT DO NOTHING;

-- Settlements: a later one of a key replaces those less than 3 days (259,200,000 ms) away.
DELETE FROM settlement s USING stage_catalog_settlement n
 WHERE s.key = n.key AND greatest(s.first_at - n.last_at, n.first_at - s.last_at) < 259200000;

INSERT INTO settlement
  (key, set_hash, first_at, last_at, bytes, par2_bytes, files, files_complete, segments, segments_total, par2_files,
   par2_segments, par2_segments_total)
SELECT key, set_hash, first_at, last_at, bytes, par2_bytes, files, files_complete, segments, segments_total, par2_files,
       par2_segments, par2_segments_total
  FROM stage_catalog_settlement WHERE live ORDER BY key, first_at;

INSERT INTO stage_catalog_affected (key) SELECT DISTINCT key FROM stage_catalog_settlement;

SET LOCAL enable_hashjoin = on;
SET LOCAL enable_mergejoin = on;
SET LOCAL enable_nestloop = off;

-- 4. Births: of every contribution that was accepted when it came, also of one that the same batch withdrew.
WITH born AS (
  INSERT INTO birth (id, key, first_at, last_at, position)
  SELECT DISTINCT ON (id) id, key, first_at, last_at, position
    FROM (SELECT birth_id(s.backbone, s.group_name, s.epoch, c.first_number, c.key) AS id,
                 c.key, c.first_at, c.last_at, c.position, c.n
            FROM stage_catalog_contribution c
            JOIN (SELECT n, backbone, group_name, epoch FROM stage_catalog_source
                   UNION ALL SELECT n, backbone, group_name, epoch FROM stage_catalog_merge) s ON s.n = c.source_n
            JOIN stage_catalog_resolved r ON r.n = c.source_n
           WHERE (c.run, c.pass) >= (r.old_run, r.old_pass)) accepted
   ORDER BY id, n
  ON CONFLICT (id) DO NOTHING
  RETURNING key)
INSERT INTO stage_catalog_affected (key) SELECT DISTINCT key FROM born;

-- 5. Live contributions. A message that was stored twice changes nothing.
WITH lists AS (
  SELECT l.n, (SELECT array_agg(g.id ORDER BY g.id) FROM group_name g WHERE g.name = ANY (l.names)) AS groups
    FROM stage_catalog_list l),
live AS (
  INSERT INTO contribution
    (key, source_id, posting, first_number, last_number, first_at, last_at, bytes, par2_bytes, chunks_position, at,
     files, files_complete, files_total, segments, segments_total, par2_files, par2_segments, par2_segments_total, chunks,
     group_id, category, has_nfo, obfuscated, name, poster, groups, file_hashes)
  SELECT DISTINCT ON (c.key, r.source_id, c.posting)
         c.key, r.source_id, c.posting, c.first_number, c.last_number, c.first_at, c.last_at, c.bytes, c.par2_bytes,
         c.chunks_position, c.at, c.files, c.files_complete, c.files_total, c.segments, c.segments_total, c.par2_files,
         c.par2_segments, c.par2_segments_total, c.chunks, g.id, c.category, c.has_nfo, c.obfuscated, c.name,
         c.poster, l.groups, c.file_hashes
    FROM stage_catalog_contribution c
    JOIN stage_catalog_resolved r ON r.n = c.source_n
    JOIN stage_catalog_group sg ON sg.n = c.group_n
    JOIN group_name g ON g.name = sg.name
    LEFT JOIN lists l ON l.n = c.list_n
   WHERE (c.run, c.pass) = (r.run, r.pass)
   ORDER BY c.key, r.source_id, c.posting, c.n
  ON CONFLICT (key, source_id, posting) DO NOTHING
  RETURNING key)
INSERT INTO stage_catalog_affected (key) SELECT DISTINCT key FROM live;

INSERT INTO stage_catalog_key (key) SELECT DISTINCT key FROM stage_catalog_affected ORDER BY key;
ANALYZE stage_catalog_key;

SET LOCAL enable_hashjoin = off;
SET LOCAL enable_mergejoin = off;
SET LOCAL enable_nestloop = on;

-- 6. All that is known of the affected keys, out of the large tables.
INSERT INTO stage_catalog_member
  (key, source_id, posting, backbone_id, epoch, birth, at, first_at, last_at, bytes, par2_bytes, chunks_position, files,
   files_complete, files_total, segments, segments_total, par2_files, par2_segments, par2_segments_total, group_id,
   group_name, category, has_nfo, obfuscated, name, poster, groups)
SELECT c.key, c.source_id, c.posting, s.backbone_id, s.epoch, birth_id(b.name, sg.name, s.epoch, c.first_number, c.key),
       c.at, c.first_at, c.last_at, c.bytes, c.par2_bytes, c.chunks_position, c.files, c.files_complete, c.files_total,
       c.segments, c.segments_total, c.par2_files, c.par2_segments, c.par2_segments_total, c.group_id, g.name,
       c.category, c.has_nfo, c.obfuscated, c.name, c.poster, c.groups
  FROM stage_catalog_key k
  JOIN contribution c ON c.key = k.key
  JOIN source s ON s.id = c.source_id
  JOIN backbone_name b ON b.id = s.backbone_id
  JOIN group_name sg ON sg.id = s.group_id
  JOIN group_name g ON g.id = c.group_id;
ANALYZE stage_catalog_member (key);

INSERT INTO stage_catalog_birth (id, key, first_at, last_at, position, redirect_to)
SELECT b.id, b.key, b.first_at, b.last_at, b.position, b.redirect_to
  FROM stage_catalog_key k JOIN birth b ON b.key = k.key;
ANALYZE stage_catalog_birth (id, key);

-- Only for keys that have a settlement: what names their contributions, as `nameOfContribution` does.
INSERT INTO stage_catalog_settled
  (key, set_hash, first_at, last_at, bytes, par2_bytes, files, files_complete, segments, segments_total, par2_files,
   par2_segments, par2_segments_total)
SELECT s.key, s.set_hash, s.first_at, s.last_at, s.bytes, s.par2_bytes, s.files, s.files_complete, s.segments,
       s.segments_total, s.par2_files, s.par2_segments, s.par2_segments_total
  FROM stage_catalog_key k JOIN settlement s ON s.key = k.key;

INSERT INTO stage_catalog_named (key, source_id, posting, name)
SELECT c.key, c.source_id, c.posting,
       coalesce(replace(s.merge_id::text, '-', ''),
                b.name || '/' || g.name || '/' || s.epoch || '-' || s.lo || '-' || s.hi || '/' || s.run || '/' || s.pass
                || '/' || c.posting)
  FROM (SELECT DISTINCT key FROM stage_catalog_settled) k
  JOIN contribution c ON c.key = k.key
  JOIN source s ON s.id = c.source_id
  JOIN backbone_name b ON b.id = s.backbone_id
  JOIN group_name g ON g.id = s.group_id;

SET LOCAL enable_hashjoin = on;
SET LOCAL enable_mergejoin = on;
SET LOCAL enable_nestloop = off;

-- 7. Identity: contributions of a key less than 3 days (259,200,000 ms) apart are one component.
INSERT INTO stage_catalog_place (key, source_id, posting, component)
SELECT key, source_id, posting, count(*) FILTER (WHERE apart) OVER (
         PARTITION BY key ORDER BY first_at, last_at, source_id, posting)
  FROM (SELECT key, source_id, posting, first_at, last_at,
               coalesce(first_at - max(last_at) OVER (
                 PARTITION BY key ORDER BY first_at, last_at, source_id, posting
                 ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) >= 259200000, true) AS apart
          FROM stage_catalog_member) spans;
ANALYZE stage_catalog_place (key);

-- A birth belongs to the component that holds its contribution; when that is gone, to the nearest one that is less than
-- 3 days away, of two as near the earlier. It never joins components.
INSERT INTO stage_catalog_assigned (id, key, position, component)
WITH component AS (
  SELECT key, p.component, min(m.first_at) AS first_at, max(m.last_at) AS last_at
    FROM stage_catalog_member m JOIN stage_catalog_place p USING (key, source_id, posting) GROUP BY 1, 2),
own AS (
  SELECT key, m.birth AS id, min(p.component) AS component
    FROM stage_catalog_member m JOIN stage_catalog_place p USING (key, source_id, posting) GROUP BY 1, 2),
distance AS (
  SELECT b.id, b.key, b.position, c.component,
         CASE WHEN c.component = o.component THEN -1
              ELSE greatest(0, c.first_at - b.last_at, b.first_at - c.last_at) END AS ms
    FROM stage_catalog_birth b
    JOIN component c USING (key)
    LEFT JOIN own o ON o.key = b.key AND o.id = b.id)
SELECT DISTINCT ON (id) id, key, position, component FROM distance
 WHERE ms < 259200000 ORDER BY id, ms, component;
ANALYZE stage_catalog_assigned (id, key);

-- The oldest birth is the id.
INSERT INTO stage_catalog_identity (key, component, release_id)
SELECT DISTINCT ON (key, component) key, component, id
  FROM stage_catalog_assigned ORDER BY key, component, position, id;
ANALYZE stage_catalog_identity (key, release_id);

INSERT INTO stage_catalog_redirect (id, redirect_to)
SELECT b.id, nullif(i.release_id, b.id)
  FROM stage_catalog_birth b
  LEFT JOIN stage_catalog_assigned a USING (id)
  LEFT JOIN stage_catalog_identity i ON i.key = a.key AND i.component = a.component
 WHERE b.redirect_to IS DISTINCT FROM nullif(i.release_id, b.id);

-- 8. What a release shows: the figures of the settlement of just its contributions; until there is one, sums within one
-- (backbone, epoch), the largest such sum, so that a second backbone counts nothing twice.
INSERT INTO release AS r
  (release_id, key, first_at, last_at, bytes, par2_bytes, chunks_position, settle_due_at, files, files_complete,
   files_total, segments, segments_total, par2_files, par2_segments, par2_segments_total, group_id, category, has_nfo,
   obfuscated, provisional, name, poster, groups, tokens)
WITH member AS (
  SELECT m.*, p.component FROM stage_catalog_member m JOIN stage_catalog_place p USING (key, source_id, posting)),
sums AS (
  SELECT DISTINCT ON (key, component) * FROM (
    SELECT key, component, sum(segments) AS segments, sum(bytes) AS bytes, sum(files_complete) AS files_complete,
           sum(files) AS files, sum(segments_total) AS segments_total, sum(par2_segments) AS par2_segments,
           sum(par2_bytes) AS par2_bytes, sum(par2_files) AS par2_files,
           sum(par2_segments_total) AS par2_segments_total
      FROM member GROUP BY key, component, backbone_id, epoch) each
   ORDER BY key, component, segments DESC, bytes DESC, files_complete DESC, files DESC, segments_total DESC,
            par2_segments DESC, par2_bytes DESC, par2_files DESC, par2_segments_total DESC),
span AS (
  SELECT key, component, min(first_at) AS first_at, max(last_at) AS last_at, bool_or(has_nfo) AS has_nfo,
         bool_and(obfuscated) AS obfuscated, max(files_total) AS files_total, max(chunks_position) AS chunks_position,
         max(at) AS at
    FROM member GROUP BY key, component),
shown AS (
  -- The first article's contribution names the release; the further keys only make equal times end alike.
  SELECT DISTINCT ON (key, component) key, component, name, poster, group_id, category, groups, obfuscated FROM member
   ORDER BY key, component, first_at, name COLLATE "C", poster COLLATE "C", group_name COLLATE "C", obfuscated, groups),
others AS (
  SELECT s.key, s.component, array_agg(DISTINCT e.id ORDER BY e.id) AS groups
    FROM shown s
    JOIN (SELECT key, component, group_id AS id FROM member
          UNION SELECT key, component, unnest(groups) FROM member) e USING (key, component)
   WHERE e.id <> s.group_id GROUP BY 1, 2),
settled AS (
  SELECT key, component, s.*
    FROM (SELECT p.key, p.component, encode(substring(sha256(convert_to(
                   string_agg(n.name, E'\n' ORDER BY n.name COLLATE "C"), 'UTF8')) FROM 1 FOR 16), 'hex')::uuid AS set_hash
            FROM stage_catalog_named n JOIN stage_catalog_place p USING (key, source_id, posting) GROUP BY 1, 2) sets
    JOIN (SELECT key AS settled_key, set_hash AS settled_hash, bytes, par2_bytes, files, files_complete, segments,
                 segments_total, par2_files, par2_segments, par2_segments_total FROM stage_catalog_settled) s
      ON s.settled_key = sets.key AND s.settled_hash = sets.set_hash),
words AS (SELECT DISTINCT ON (name) name, array_to_tsvector(tokens) AS tokens FROM stage_catalog_name)
SELECT i.release_id, key, span.first_at, span.last_at, coalesce(s.bytes, least(t.bytes, 9007199254740991)::bigint),
       coalesce(s.par2_bytes, least(t.par2_bytes, 9007199254740991)::bigint), span.chunks_position,
       -- A day (86,400,000 ms) after what was said last.
       CASE WHEN s.key IS NULL THEN span.at + 86400000 END,
       coalesce(s.files, least(t.files, 2147483647)::integer),
       coalesce(s.files_complete, least(t.files_complete, 2147483647)::integer), span.files_total,
       coalesce(s.segments, least(t.segments, 2147483647)::integer),
       coalesce(s.segments_total, least(t.segments_total, 2147483647)::integer),
       coalesce(s.par2_files, least(t.par2_files, 2147483647)::integer),
       coalesce(s.par2_segments, least(t.par2_segments, 2147483647)::integer),
       coalesce(s.par2_segments_total, least(t.par2_segments_total, 2147483647)::integer), shown.group_id,
       -- The category is that of all groups together. Where that is not what one contribution says, finish.ts asks again.
       CASE WHEN others.groups IS NOT DISTINCT FROM shown.groups AND span.obfuscated = shown.obfuscated
            THEN shown.category
            ELSE (SELECT old.category FROM release old
                   WHERE old.key = i.key AND old.name = shown.name AND old.group_id = shown.group_id
                     AND old.groups IS NOT DISTINCT FROM others.groups AND old.obfuscated = span.obfuscated LIMIT 1) END,
       span.has_nfo, span.obfuscated, s.key IS NULL, shown.name, shown.poster, others.groups,
       coalesce(words.tokens, (SELECT old.tokens FROM release old
                                WHERE old.key = i.key AND old.name = shown.name LIMIT 1))
  FROM stage_catalog_identity i
  JOIN sums t USING (key, component)
  JOIN span USING (key, component)
  JOIN shown USING (key, component)
  LEFT JOIN others USING (key, component)
  LEFT JOIN words ON words.name = shown.name
  LEFT JOIN settled s USING (key, component)
 ORDER BY key, component
ON CONFLICT (release_id) DO UPDATE SET
  first_at = excluded.first_at, last_at = excluded.last_at, bytes = excluded.bytes, par2_bytes = excluded.par2_bytes,
  chunks_position = excluded.chunks_position, settle_due_at = excluded.settle_due_at,
  files = excluded.files, files_complete = excluded.files_complete, files_total = excluded.files_total, segments = excluded.segments, segments_total = excluded.segments_total,
  par2_files = excluded.par2_files, par2_segments = excluded.par2_segments,
  par2_segments_total = excluded.par2_segments_total, group_id = excluded.group_id, category = excluded.category,
  has_nfo = excluded.has_nfo, obfuscated = excluded.obfuscated, provisional = excluded.provisional, name = excluded.name,
  poster = excluded.poster, groups = excluded.groups, tokens = excluded.tokens
WHERE (r.*) IS DISTINCT FROM (excluded.*);

SET LOCAL enable_hashjoin = off;
SET LOCAL enable_mergejoin = off;
SET LOCAL enable_nestloop = on;

UPDATE birth b SET redirect_to = w.redirect_to FROM stage_catalog_redirect w WHERE b.id = w.id;

DELETE FROM release r USING stage_catalog_key k
 WHERE r.key = k.key AND r.release_id NOT IN (SELECT release_id FROM stage_catalog_identity);
