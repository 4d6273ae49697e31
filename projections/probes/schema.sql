-- What phase 2 should read, and when. Times are milliseconds since 1970, as in the events.

CREATE TABLE backbone_name (
  id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name text NOT NULL UNIQUE
);

CREATE TABLE group_name (
  id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name text NOT NULL UNIQUE
);

-- A range that named candidates, and its highest opened (run, pass): every candidate stored is of just that pair.
CREATE TABLE source (
  id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  group_id integer NOT NULL,
  backbone_id integer NOT NULL,
  epoch integer NOT NULL,
  run integer NOT NULL,
  pass integer NOT NULL,
  lo bigint NOT NULL,
  hi bigint NOT NULL,
  UNIQUE (group_id, backbone_id, epoch, lo, hi)
);

-- An article that one source would have read: at most a few for each of its releases.
CREATE TABLE candidate (
  -- Where in RELEASES it was named, and when.
  position bigint NOT NULL,
  at bigint NOT NULL,
  rank bigint NOT NULL,
  part bigint NOT NULL,
  bytes bigint NOT NULL,
  -- The span of its posting in the range.
  first_at bigint NOT NULL,
  last_at bigint NOT NULL,
  source_id integer NOT NULL,
  -- 0 to 7: see preferenceOf.
  preference smallint NOT NULL,
  key uuid NOT NULL,
  random boolean NOT NULL,
  kind text COLLATE "C" NOT NULL,
  message_id text COLLATE "C" NOT NULL,
  file_hash bytea NOT NULL,
  PRIMARY KEY (key, source_id, kind, message_id)
);
CREATE INDEX candidate_source ON candidate (source_id);

-- Settlements that may still tell of a live candidate: those that came after one of their key.
CREATE TABLE settled (
  first_at bigint NOT NULL,
  last_at bigint NOT NULL,
  position bigint NOT NULL,
  -- Which of its message.
  n integer NOT NULL,
  key uuid NOT NULL,
  PRIMARY KEY (key, position, n)
);

-- The queue. What is chosen follows from the candidates and is worked out anew whenever one of its key comes or goes; state,
-- attempts and what goes with them are what outcomes say.
CREATE TABLE probe (
  -- The span of its release, as far as candidates tell.
  first_at bigint NOT NULL,
  last_at bigint NOT NULL,
  part bigint NOT NULL,
  bytes bigint NOT NULL,
  -- Until something is known of it: when the candidate was named, so that the longest waiting goes first.
  next_attempt_at bigint NOT NULL,
  -- A lease: no event sets it.
  leased_until bigint,
  -- Accepted outcomes.
  attempts integer NOT NULL DEFAULT 0,
  -- Smaller is sooner: 8 while its release is not settled, plus the preference of the candidate.
  priority smallint NOT NULL,
  key uuid NOT NULL,
  random boolean NOT NULL,
  -- False: another article is better now, or the candidate was withdrawn; only a row with attempts stays then.
  chosen boolean NOT NULL DEFAULT true,
  state text COLLATE "C" NOT NULL DEFAULT 'due',
  kind text COLLATE "C" NOT NULL,
  message_id text COLLATE "C" NOT NULL,
  -- With the key, the part and the span: where in the chunks the article is.
  file_hash bytea NOT NULL,
  error_class text,
  failed_providers text[] NOT NULL DEFAULT '{}',
  worker text,
  PRIMARY KEY (key, kind, message_id)
) WITH (fillfactor = 90);
-- The order of claiming.
CREATE INDEX probe_claim ON probe (priority, next_attempt_at) WHERE chosen AND state = 'due';
