-- Answers that are complete and cannot be continued: removed a week after their end, so that there are few at any time.
create index responses_complete on responses (ended_at) where state = 'complete';

-- Applied inputs of earlier releases, which keep a second copy of their message. Empty once the copies are gone.
create index inputs_copied on inputs (position) where state = 'applied' and parts <> '[]';
