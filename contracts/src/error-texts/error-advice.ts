import type { ErrorCode } from '../errors.ts';

/** Meaning of each error code and the remedy, for docs/errors.md. */
export const errorAdvice: Readonly<Record<ErrorCode, { means: string; todo: string }>> = {
  invalid_request: {
    means: 'The request is not what the endpoint takes. `details` names each field and what is wrong with it.',
    todo: 'Correct the fields. In the browser, reload the page: it may be older than the server.',
  },
  blocked_destination: {
    means: 'Homeport does not connect to this address: it is private or local, or not https.',
    todo: 'Use a public https address. For a server in your own network, the administrator sets `ALLOW_PRIVATE_EGRESS=true`; for plain http, `ALLOW_INSECURE_HTTP=true`.',
  },
  model_unavailable: {
    means: 'The model no longer exists, is disabled, or is not shared with you.',
    todo: 'Choose another model in the composer, or enable it under Settings > Models.',
  },
  invalid_path: {
    means: 'The path of a file has a part that is not allowed, such as `..`, or a name that is too long.',
    todo: 'Choose another name or folder.',
  },
  unauthorized: {
    means: 'There is no session, or it has ended.',
    todo: 'Sign in again. Drafts in the browser are kept.',
  },
  invalid_credentials: {
    means: 'The e-mail address or the password is wrong. Which one is not said.',
    todo: 'Check both. An administrator can set a new password, also with `users reset-password`.',
  },
  invalid_api_key: {
    means: 'The access token is missing, incomplete or wrong, has ended, or can no longer be used here.',
    todo: 'Create a token under Settings > Access tokens, and send it as `Authorization: Bearer hp_…`.',
  },
  forbidden: { means: 'Your account may not do this.', todo: 'Ask an administrator.' },
  account_disabled: { means: 'The account is disabled. Its data is kept.', todo: 'Ask an administrator to enable it.' },
  setup_claim_mismatch: {
    means: 'The first administrator can only be created with the claim token, and this is another one.',
    todo: 'Enter the value of `SETUP_CLAIM_TOKEN`, or of the file that `SETUP_CLAIM_TOKEN_FILE` names.',
  },
  provider_settings_disabled: {
    means: 'This account may not change providers and models.',
    todo: 'Ask an administrator to change it, or to switch the permission on.',
  },
  mcp_settings_disabled: {
    means: 'This account may not change MCP servers.',
    todo: 'Ask an administrator to switch the permission on, or to offer the server to everybody.',
  },
  password_change_required: {
    means: 'The password was set by an administrator and has to be changed first.',
    todo: 'Choose a new password on the page that opens.',
  },
  recent_sign_in_required: {
    means: 'The session began more than an hour ago, and this needs a more recent sign-in.',
    todo: 'Sign out, sign in again, and repeat it.',
  },
  insufficient_scope: {
    means: 'The access token may not do this. Some things need a session in the browser and no token can do them.',
    todo: 'Create a token with the scope that the error names.',
  },
  origin_not_allowed: {
    means: 'The request comes from a page at another address than the one Homeport knows as its own.',
    todo: 'Open Homeport at the address in `BASE_URL`. Behind a proxy, set `BASE_URL` to the address in the browser.',
  },
  sharing_disabled: {
    means: 'Sharing is switched off, or limited to people who have an account here.',
    todo: 'Choose another audience, or ask an administrator: Settings > Shared links sets who may share.',
  },
  share_password: {
    means: 'The share has a password, and none or a wrong one was sent.',
    todo: 'Ask the person who shared it. After ten wrong ones the address answers `not_found` for ten minutes.',
  },
  not_found: {
    means: 'There is nothing at this address, or it belongs to somebody else. Both are answered alike.',
    todo: 'Check the address. What was deleted cannot be brought back.',
  },
  method_not_allowed: {
    means: 'The endpoint exists, but not with this method. The header `allow` lists those it has.',
    todo: 'Use one of them.',
  },
  id_taken: {
    means: 'Something with this id, or a prompt or skill with this name, exists already.',
    todo: 'Choose another one.',
  },
  tier_in_use: {
    means: 'Models still use a tier that was to be removed. `details.tiers` lists them.',
    todo: 'Move those models to another tier under Settings > Models, then try again.',
  },
  import_source_conflict: {
    means: 'This source was imported before, as another file.',
    todo: 'Import it under the id that it had, or with another `source`.',
  },
  import_ended: {
    means: 'The import is done, or was cancelled.',
    todo: 'Reload the page to see its report. To import again, upload the archive again.',
  },
  setup_closed: { means: 'The first administrator exists already.', todo: 'Sign in.' },
  input_conflict: {
    means: 'A message with this id was sent before, with other content.',
    todo: 'Reload the conversation and look at what arrived; send the new text as a new message.',
  },
  input_applied: {
    means: 'The message, the approval or the answer to a question was taken already.',
    todo: 'Nothing: reload to see what happened.',
  },
  response_running: {
    means: 'An answer is being written in this conversation.',
    todo: 'Wait for its end, or stop it.',
  },
  conversation_archived: { means: 'The conversation is archived.', todo: 'Restore it first.' },
  project_archived: { means: 'The project is archived.', todo: 'Its owner can restore it.' },
  last_admin: {
    means: 'This would leave the installation without an enabled administrator.',
    todo: 'Make somebody else an administrator first.',
  },
  last_sign_in_method: {
    means: 'Without this identity, nobody could sign in to the account: it has no password and no other identity.',
    todo: 'Link another identity first, or have an administrator set a password.',
  },
  email_taken: { means: 'An account with this e-mail address exists.', todo: 'Use another address, or that account.' },
  path_taken: { means: 'There is a file or a folder at this path.', todo: 'Choose another name, or replace the file.' },
  mcp_tools_changed: {
    means: 'The tools of the MCP server are no longer those that were shown to you.',
    todo: 'Review the change on the page of the server, then trust it again.',
  },
  skill_changed: {
    means: 'The skill has changed since it was shown to you.',
    todo: 'Review it again, then trust it.',
  },
  files_changed: {
    means: 'Files were changed since, so undoing this answer would overwrite them.',
    todo: 'Look at the differences, and undo the files one at a time or by hand.',
  },
  secrets_found: {
    means: 'Texts of the share look like keys or passwords; `details.places` names the places.',
    todo: 'Remove them, or share anyway with `confirmSecrets`.',
  },
  invitation_used: { means: 'An account was created with this invitation.', todo: 'Sign in, or ask for a new one.' },
  credentials_unreadable: {
    means:
      'A stored key is not sent. `details.reason` is `address_changed` if it was entered for another address; otherwise `SETTINGS_ENCRYPTION_KEY` is not the one it was encrypted with.',
    todo: 'Enter the key again. After a changed address, changing it back helps too; for the right `SETTINGS_ENCRYPTION_KEY` see [Keys](operations.md#keys).',
  },
  invitation_expired: { means: 'The invitation is too old.', todo: 'Ask for a new one.' },
  payload_too_large: {
    means: 'The body, the file or the message is larger than allowed.',
    todo: 'Send less. The limit for files is `ARTIFACT_MAX_UPLOAD_BYTES`. If the answer is HTML, the limit is your proxy’s: [behind a reverse proxy](operations.md#behind-a-reverse-proxy).',
  },
  unsupported_media_type: {
    means: 'The body has another type than the endpoint takes.',
    todo: 'Send `content-type: application/json`, or what the [API reference](api-reference.md) says.',
  },
  rate_limited: {
    means: 'Too many requests or attempts, here or at the provider.',
    todo: 'Wait as long as the header `retry-after` says. If everybody is limited at once behind a proxy, set `TRUSTED_PROXIES`.',
  },
  budget_exhausted: {
    means: 'The budget for models is used up. `details` says when it starts again.',
    todo: 'Wait until then, or ask an administrator to raise it: [usage and budgets](usage.md).',
  },
  internal_error: {
    means: 'Homeport did not expect this.',
    todo: 'Try again. If it stays, find the request id in the log, and report it: [support](support.md).',
  },
  answer_too_long: {
    means:
      'An answer reached 8 MB, the most that one answer may have. It ended there, and everything up to there is kept.',
    todo: 'Ask for the rest in a new message. If the model repeats itself, choose another model or a smaller output limit.',
  },
  provider_error: {
    means:
      'The provider answered with a failure, or not as it should. `details.status` is its HTTP status, if it has one, and `details.reason` the cause.',
    todo: 'Check key, model and account at the provider. "Test" in the provider’s form tells more.',
  },
  provider_unreachable: {
    means: 'The provider does not answer at its address.',
    todo: 'Check the address and the network of the machine; behind a proxy, [HTTPS_PROXY](operations.md#a-proxy-for-outbound-calls).',
  },
  mcp_unreachable: {
    means: 'The MCP server does not answer, or not as one.',
    todo: 'Check its address and its headers, then test it under Settings > Tools.',
  },
  search_error: {
    means:
      'The search service did not return results. `details.reason` is the cause: `format`, `key`, `quota`, `protocol` or `unreachable`.',
    todo: 'Test the service under Settings > Web search. SearXNG needs `json` in `search.formats`.',
  },
  workspace_request_failed: {
    means: 'The workspace did not do what was asked.',
    todo: 'Try again; if it stays, restart the workspace in its panel. The log has the reason.',
  },
  database_unavailable: {
    means: 'The database cannot be reached at the moment, or took too long to answer.',
    todo: 'Nothing in the browser: it tries again. Operators: the log says why, as `reason`. Is PostgreSQL running, and is its disk full?',
  },
  maintenance: {
    means: 'An administrator has switched maintenance on: everything can be read, nothing written.',
    todo: 'Wait. An operator ends it with `maintenance off`.',
  },
  workspace_disabled: {
    means: 'There are no workspaces here.',
    todo: 'Operators: `doctor` says why; [workspaces](workspaces.md) says what they need.',
  },
  workspace_start_timeout: {
    means: 'The workspace did not start in time.',
    todo: 'Try again. If it stays, its panel and `doctor` say what is missing.',
  },
  storage_full: {
    means: 'The disk, the bucket or your quota is full. For a quota, `details` says how much you use and may use.',
    todo: 'Delete files that you no longer need. Operators: [a full disk](operations.md#a-full-disk).',
  },
};
