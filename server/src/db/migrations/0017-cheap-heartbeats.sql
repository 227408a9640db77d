-- What a heartbeat changes is in no index, and there is room beside each row: it writes one row and nothing else. Running responses
-- and waiting inputs are few, and are found by the indexes of those alone: responses_one_running and inputs_queue.
drop index responses_lease;
drop index inputs_due;
alter table responses set (fillfactor = 70);
