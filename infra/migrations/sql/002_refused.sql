-- Up Migration

-- Why the projection must not go on: code and fields of the error. A stream that lost its end grows past the position
-- again, and nothing would show then that its numbers stand for other events: so the refusal is kept until somebody acts.
ALTER TABLE projection_position ADD COLUMN refused jsonb;
