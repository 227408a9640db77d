-- Trust that an administrator gives an offered MCP server for everyone: the reviewed definitions as JSON text, their
-- fingerprint, and texts that change with each listing.
alter table mcp_offers
  add column trusted_tools text,
  add column trusted_fingerprint text,
  add column volatile_texts jsonb not null default '[]',
  add column trusted_by text references users on delete set null,
  add column trusted_at timestamptz,
  add constraint mcp_offers_trust check ((trusted_at is null) = (trusted_tools is null)
    and (trusted_at is null) = (trusted_fingerprint is null));
create index mcp_offers_trusted_by on mcp_offers (trusted_by) where trusted_by is not null;

-- trusted_with_offer: the trust is the offer's, and changes with it. offer_trust_declined: the owner withdrew it.
alter table mcp_servers
  add column trusted_with_offer boolean not null default false,
  add column offer_trust_declined boolean not null default false;
