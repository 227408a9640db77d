-- What a person has said of tools for one conversation: {"rules": [{"tool": name, "policy": "allow"}]}, or nothing.
alter table chats add column tool_rules jsonb;
