INSERT INTO group_list (list_version, list, at)
SELECT DISTINCT ON (list_version) list_version, list, at FROM stage_control_list ORDER BY list_version, n
ON CONFLICT (list_version) DO NOTHING;

-- The entries follow from the newest version alone.
DELETE FROM group_entry WHERE EXISTS (SELECT FROM stage_control_list);
INSERT INTO group_entry (group_name, rank, removed, entry)
SELECT entry ->> 'group', (entry ->> 'rank')::integer, (entry ->> 'removed')::boolean, entry
  FROM (SELECT list FROM group_list ORDER BY list_version DESC LIMIT 1) newest,
       jsonb_array_elements(newest.list -> 'entries') AS entry
 WHERE EXISTS (SELECT FROM stage_control_list);

INSERT INTO garbage_table (garbage_version, garbage, at)
SELECT DISTINCT ON (garbage_version) garbage_version, garbage, at FROM stage_control_garbage ORDER BY garbage_version, n
ON CONFLICT (garbage_version) DO NOTHING;
