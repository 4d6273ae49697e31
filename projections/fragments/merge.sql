-- One batch of RELEASES: project.ts has worked out what comes and what goes. The planner is told to look rows up by
-- index, since it knows too little of staged rows; the cost of that does not grow with the tables.
SET LOCAL enable_hashjoin = off;
SET LOCAL enable_mergejoin = off;

INSERT INTO numbering (backbone, group_name, epoch)
SELECT backbone, group_name, epoch FROM stage_fragments_place s
 WHERE NOT EXISTS (SELECT FROM numbering n
                    WHERE (n.backbone, n.group_name, n.epoch) = (s.backbone, s.group_name, s.epoch))
 ORDER BY 1, 2, 3;

INSERT INTO stage_fragments_numbering (n, id)
SELECT s.n, n.id FROM stage_fragments_place s
  JOIN numbering n ON (n.backbone, n.group_name, n.epoch) = (s.backbone, s.group_name, s.epoch);

-- Opened replaces: what goes. Of a blob nothing else can go than all that its range sent.
DELETE FROM lone_blob b USING stage_fragments_source s, stage_fragments_numbering n
 WHERE s.replaces AND n.n = s.n AND (b.numbering_id, b.lo, b.hi) = (n.id, s.lo, s.hi);

DELETE FROM piece p USING stage_fragments_gone g, stage_fragments_numbering n
 WHERE n.n = g.n AND (p.numbering_id, p.file_hash, p.lo, p.hi, p.posting) = (n.id, g.file_hash, g.lo, g.hi, g.posting);

DELETE FROM merge_source s USING stage_fragments_unmerged u WHERE s.merge_id = u.merge_id;
DELETE FROM merge m USING stage_fragments_unmerged u WHERE m.merge_id = u.merge_id;

DELETE FROM unit u USING stage_fragments_file f, stage_fragments_numbering n
 WHERE n.n = f.n AND (u.numbering_id, u.file_hash) = (n.id, f.file_hash);

-- What comes.
INSERT INTO source AS o (numbering_id, lo, hi, run, pass)
SELECT n.id, s.lo, s.hi, s.run, s.pass
  FROM stage_fragments_source s JOIN stage_fragments_numbering n ON n.n = s.n
 ORDER BY 1, 2, 3
ON CONFLICT (numbering_id, lo, hi) DO UPDATE SET run = excluded.run, pass = excluded.pass;

INSERT INTO lone_blob (numbering_id, lo, hi, k, i, first_number, last_number, hashes, payload)
SELECT n.id, b.lo, b.hi, b.k, b.i, b.first_number, b.last_number, b.hashes, b.payload
  FROM stage_fragments_blob b JOIN stage_fragments_numbering n ON n.n = b.n
 ORDER BY 1, 2, 3, 4, 5;

INSERT INTO piece
  (numbering_id, file_hash, lo, hi, posting, run, pass, lone, first_number, last_number, last_at, posting_first_at,
   posting_last_at, parts, totals, payload)
SELECT n.id, p.file_hash, p.lo, p.hi, p.posting, p.run, p.pass, p.lone, p.first_number, p.last_number, p.last_at,
       p.posting_first_at, p.posting_last_at, p.parts, p.totals, p.payload
  FROM stage_fragments_piece p JOIN stage_fragments_numbering n ON n.n = p.n
 ORDER BY 1, 2, 3, 4, 5;

INSERT INTO merge (numbering_id, file_hash, merge_id, revision)
SELECT n.id, m.file_hash, m.merge_id, m.revision
  FROM stage_fragments_merge m JOIN stage_fragments_numbering n ON n.n = m.n
 ORDER BY 1, 2, 3;

INSERT INTO merge_source (numbering_id, merge_id, lo, hi, run, pass, posting)
SELECT n.id, s.merge_id, s.lo, s.hi, s.run, s.pass, s.posting
  FROM stage_fragments_merge_source s JOIN stage_fragments_numbering n ON n.n = s.n
 ORDER BY 1, 2, 3, 4;

-- The size of a unit is that of its pieces as they are stored: project.ts did not read the payloads of old ones.
INSERT INTO unit
  (numbering_id, file_hash, merge_id, first_number, last_number, posting_first_at, posting_last_at, last_at, pieces,
   payload_bytes, mergeable, complete, open)
SELECT n.id, u.file_hash, u.merge_id, u.first_number, u.last_number, u.posting_first_at, u.posting_last_at, u.last_at,
       u.pieces, coalesce((SELECT sum(octet_length(p.payload)) FROM piece p
                            WHERE p.numbering_id = n.id AND p.file_hash = u.file_hash
                              AND p.posting_first_at BETWEEN u.posting_first_at AND u.posting_last_at), 0)::bigint,
       u.mergeable, u.complete, u.open
  FROM stage_fragments_unit u JOIN stage_fragments_numbering n ON n.n = u.n
 ORDER BY 1, 2, 3;
