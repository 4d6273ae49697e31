-- Times are milliseconds since 1970, as in the events. Ids of names and sources are this database's own: they differ
-- between two builds of one catalog, release ids never do.

CREATE TABLE backbone_name (
  id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name text NOT NULL UNIQUE
);

CREATE TABLE group_name (
  id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name text NOT NULL UNIQUE
);

-- What contributed: a range, with its highest (run, pass), of which every live contribution of it is; or a live merge.
CREATE TABLE source (
  id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  group_id integer NOT NULL,
  backbone_id integer NOT NULL,
  epoch integer NOT NULL,
  -- 0 for a merge.
  run integer NOT NULL,
  pass integer NOT NULL,
  -- Null for a merge.
  lo bigint,
  hi bigint,
  -- Null for a range.
  revision bigint,
  merge_id uuid,
  file_hash bytea,
  CHECK ((lo IS NULL) = (merge_id IS NOT NULL))
);
CREATE UNIQUE INDEX source_range ON source (group_id, backbone_id, epoch, lo, hi) WHERE lo IS NOT NULL;
CREATE UNIQUE INDEX source_merge ON source (merge_id) WHERE merge_id IS NOT NULL;

-- Which pieces a live merge consists of, each of its range's highest pair.
CREATE TABLE merge_piece (
  merge_source integer NOT NULL,
  source_id integer NOT NULL,
  posting integer NOT NULL,
  file_hash bytea NOT NULL,
  PRIMARY KEY (merge_source, source_id, posting)
);
CREATE INDEX merge_piece_source ON merge_piece (source_id, file_hash, posting);

-- What one source knows about one posting of one release. Columns from wide to narrow, so that none is padded.
CREATE TABLE contribution (
  first_number bigint NOT NULL,
  last_number bigint NOT NULL,
  first_at bigint NOT NULL,
  last_at bigint NOT NULL,
  bytes bigint NOT NULL,
  par2_bytes bigint NOT NULL,
  chunks_position bigint NOT NULL,
  -- When it was said.
  at bigint NOT NULL,
  source_id integer NOT NULL,
  posting integer NOT NULL,
  files integer NOT NULL,
  files_complete integer NOT NULL,
  files_total integer,
  segments integer NOT NULL,
  segments_total integer NOT NULL,
  par2_files integer NOT NULL,
  par2_segments integer NOT NULL,
  par2_segments_total integer NOT NULL,
  chunks integer NOT NULL,
  group_id integer NOT NULL,
  -- What its own name and groups say: whichever contribution names the release brings the category with the name.
  category smallint NOT NULL,
  key uuid NOT NULL,
  has_nfo boolean NOT NULL,
  obfuscated boolean NOT NULL,
  name text NOT NULL,
  poster text NOT NULL,
  -- The other groups, null when there is none.
  groups integer[],
  -- 8 bytes a file, sorted.
  file_hashes bytea NOT NULL,
  PRIMARY KEY (key, source_id, posting)
) WITH (fillfactor = 95);
CREATE INDEX contribution_source ON contribution (source_id);

-- Every accepted contribution leaves one for ever, so that an id that was shown once is resolved for ever.
CREATE TABLE birth (
  first_at bigint NOT NULL,
  last_at bigint NOT NULL,
  -- Where in RELEASES it was recorded first: the oldest birth of a release is its id.
  position bigint NOT NULL,
  id uuid PRIMARY KEY,
  key uuid NOT NULL,
  -- The id of the release that it belongs to, null while that is its own id or while there is no such release.
  redirect_to uuid
) WITH (fillfactor = 95);
CREATE INDEX birth_key ON birth (key);

-- The figures of the union of a release, as the settle processor made them: shown while the release's contributions are just
-- those that the hash names. Two of one key are 3 days or more apart.
CREATE TABLE settlement (
  first_at bigint NOT NULL,
  last_at bigint NOT NULL,
  bytes bigint NOT NULL,
  par2_bytes bigint NOT NULL,
  files integer NOT NULL,
  files_complete integer NOT NULL,
  segments integer NOT NULL,
  segments_total integer NOT NULL,
  par2_files integer NOT NULL,
  par2_segments integer NOT NULL,
  par2_segments_total integer NOT NULL,
  key uuid NOT NULL,
  set_hash uuid NOT NULL,
  PRIMARY KEY (key, first_at)
);

-- What is listed: recomputed from the live contributions whenever one of its key comes or goes.
CREATE TABLE release (
  first_at bigint NOT NULL,
  last_at bigint NOT NULL,
  bytes bigint NOT NULL,
  par2_bytes bigint NOT NULL,
  -- Listed once the chunks projection is past it.
  chunks_position bigint NOT NULL,
  -- When it is to be settled: a day after what was said of it last. Null once it is.
  settle_due_at bigint,
  files integer NOT NULL,
  files_complete integer NOT NULL,
  files_total integer,
  segments integer NOT NULL,
  segments_total integer NOT NULL,
  par2_files integer NOT NULL,
  par2_segments integer NOT NULL,
  par2_segments_total integer NOT NULL,
  group_id integer NOT NULL,
  -- The leaf of categoryTree.ts. Null only inside a merge, as tokens are.
  category smallint,
  release_id uuid PRIMARY KEY,
  key uuid NOT NULL,
  has_nfo boolean NOT NULL,
  obfuscated boolean NOT NULL,
  -- The figures are sums, not yet the settled union.
  provisional boolean NOT NULL,
  name text NOT NULL,
  poster text NOT NULL,
  groups integer[],
  -- Null only inside a merge, where the name was not in the batch.
  tokens tsvector
) WITH (fillfactor = 85);
CREATE INDEX release_key ON release (key);
CREATE INDEX release_newest ON release (first_at DESC, release_id);
-- Without the id, which only orders releases of one and the same moment: it would be half of the index. The order of nulls,
-- of which there are none, is what release_newest has not: whoever asks for this order gets this index.
CREATE INDEX release_category ON release (category, first_at DESC NULLS LAST);
CREATE INDEX release_tokens ON release USING gin (tokens);
CREATE INDEX release_unfinished ON release (release_id) WHERE tokens IS NULL OR category IS NULL;
CREATE INDEX release_due ON release (settle_due_at, release_id) WHERE settle_due_at IS NOT NULL;

-- Its twin is birthOf in birth.ts. One expression of built-in functions, so that the planner inlines it.
CREATE FUNCTION birth_id(backbone text, group_name text, epoch integer, first_number bigint, key uuid) RETURNS uuid
LANGUAGE sql IMMUTABLE AS $$
  SELECT encode(substring(sha256(convert_to(
    backbone || '/' || group_name || '/' || epoch::text || '/' || first_number::text || '/' || replace(key::text, '-', ''),
    'UTF8')) FROM 1 FOR 16), 'hex')::uuid
$$;

-- Up to `most` releases with these words, by the index and nothing else: for common words the planner would rather read
-- the table. The body is bound to this schema's table, so that it survives the schema's renaming.
CREATE FUNCTION release_hits(query tsquery, most integer)
RETURNS TABLE (release_id uuid, first_at bigint, bytes bigint, chunks_position bigint, group_id integer,
               groups integer[], category smallint, obfuscated boolean)
LANGUAGE sql STABLE
SET enable_seqscan = off SET enable_indexscan = off SET enable_indexonlyscan = off
BEGIN ATOMIC
  SELECT r.release_id, r.first_at, r.bytes, r.chunks_position, r.group_id, r.groups, r.category,
         r.obfuscated
    FROM release r WHERE r.tokens @@ query LIMIT most;
END;
