-- Where an attached file comes from, if not from a person's device: an MCP server and the address of its resource.
alter table artifacts add column source text;
