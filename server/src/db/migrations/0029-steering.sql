-- A waiting input that was told to go before the others, in the order told: it goes to the running answer between two steps.
-- taken_by is the answer that ends to make room for it; it can't be cancelled any more. answered_by is set when several are
-- delivered together: the answer of the first one answers all.
alter table inputs add column steer_rank integer, add column taken_by text, add column answered_by text;
