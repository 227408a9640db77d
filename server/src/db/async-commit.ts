/**
 * SQL text: a part of `with` for a statement whose commit does not wait for the disk, so that a crash of the database may
 * lose it. It takes effect where something in the statement reads from `settings`.
 */
export const asyncCommit = `settings as (select set_config('synchronous_commit', 'off', true))`;
