-- What a person has said of tools for all conversations: {"preset": "auto", "rules": [{"tool", "pattern"?, "policy"}]}.
-- `chats.tool_rules` holds the same for one conversation; without a preset there, the person's counts.
create table tool_rules (
  user_id text primary key references users on delete cascade,
  rules jsonb not null
);

-- The rule that the answer to a question may leave behind; null: none.
alter table tool_approvals add column rule jsonb;
update tool_approvals set rule = jsonb_build_object('tool', tool_name, 'policy', 'allow') where settled_at is null;
