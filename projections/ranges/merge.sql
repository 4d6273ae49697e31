-- One batch of RANGES: project.ts has worked out what each touched range is now.

INSERT INTO numbering (backbone, group_name, epoch)
SELECT backbone, group_name, epoch FROM (
  SELECT backbone, group_name, epoch FROM stage_ranges_range
  UNION SELECT backbone, group_name, epoch FROM stage_ranges_wanted
  UNION SELECT backbone, group_name, epoch FROM stage_ranges_mark) named
 WHERE NOT EXISTS (SELECT FROM numbering n
                    WHERE (n.backbone, n.group_name, n.epoch) = (named.backbone, named.group_name, named.epoch))
 ORDER BY 1, 2, 3;

UPDATE numbering n SET planned = n.planned + s.numbers
  FROM (SELECT backbone, group_name, epoch, range_agg(int8range(lo, hi, '[]')) AS numbers
          FROM stage_ranges_range GROUP BY 1, 2, 3) s
 WHERE (n.backbone, n.group_name, n.epoch) = (s.backbone, s.group_name, s.epoch)
   AND NOT n.planned @> s.numbers;

-- What is covered stays covered, so it does not matter in which batch a wish and the range that meets it come.
UPDATE numbering n SET wanted = n.wanted + s.numbers
  FROM (SELECT backbone, group_name, epoch, range_agg(int8range(lo, hi, '[]')) AS numbers
          FROM stage_ranges_wanted GROUP BY 1, 2, 3) s
 WHERE (n.backbone, n.group_name, n.epoch) = (s.backbone, s.group_name, s.epoch);
UPDATE numbering n SET wanted = n.wanted - n.planned WHERE n.wanted <> '{}' AND n.wanted && n.planned;

UPDATE numbering n SET low = s.low, high = s.high, marks_at = s.at
  FROM stage_ranges_mark s
 WHERE (n.backbone, n.group_name, n.epoch) = (s.backbone, s.group_name, s.epoch);

INSERT INTO poll AS p (backbone, read_at)
SELECT backbone, read_at FROM stage_ranges_poll
ON CONFLICT (backbone) DO UPDATE SET read_at = greatest(p.read_at, excluded.read_at);

-- Missing numbers that no step touched are staged as null and kept. PostgreSQL checks NOT NULL before it sees the
-- conflict, hence the look-up instead of a null.
INSERT INTO range
  (numbering_id, lo, hi, run, pass, lane, state, failure_stage, failure_class, failure_code, failure_message,
   list_version, garbage_version, batches, lines, raw_bytes, first_at, last_at, missing, kept, skipped, releases, files,
   segments, releases_position, chunks_position, planned_at, fetched_at, parsed_at, ended_at,
   reask, retry)
SELECT n.id, s.lo, s.hi, s.run, s.pass, s.lane, s.state, s.failure_stage, s.failure_class, s.failure_code,
       s.failure_message, s.list_version, s.garbage_version, s.batches, s.lines, s.raw_bytes, s.first_at, s.last_at,
       coalesce(s.missing::int8multirange, old.missing, '{}'), s.kept, s.skipped, s.releases, s.files, s.segments,
       s.releases_position, s.chunks_position, s.planned_at, s.fetched_at, s.parsed_at, s.ended_at,
       s.reask, s.retry
  FROM stage_ranges_range s
  JOIN numbering n ON (n.backbone, n.group_name, n.epoch) = (s.backbone, s.group_name, s.epoch)
  LEFT JOIN range old ON (old.numbering_id, old.lo, old.hi) = (n.id, s.lo, s.hi)
 ORDER BY 1, 2, 3
ON CONFLICT (numbering_id, lo, hi) DO UPDATE SET
  run = excluded.run, pass = excluded.pass, lane = excluded.lane, state = excluded.state,
  failure_stage = excluded.failure_stage, failure_class = excluded.failure_class,
  failure_code = excluded.failure_code, failure_message = excluded.failure_message,
  list_version = excluded.list_version, garbage_version = excluded.garbage_version, batches = excluded.batches,
  lines = excluded.lines, raw_bytes = excluded.raw_bytes, first_at = excluded.first_at, last_at = excluded.last_at,
  missing = excluded.missing, kept = excluded.kept, skipped = excluded.skipped, releases = excluded.releases,
  files = excluded.files, segments = excluded.segments, releases_position = excluded.releases_position,
  chunks_position = excluded.chunks_position, planned_at = excluded.planned_at, fetched_at = excluded.fetched_at,
  parsed_at = excluded.parsed_at, ended_at = excluded.ended_at, reask = excluded.reask, retry = excluded.retry;
