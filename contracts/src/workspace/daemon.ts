import { z } from 'zod';

/**
 * HTTP API of the daemon inside a workspace. Only the control plane calls it, with the bearer token of the workspace's
 * generation, and validates every response against these shapes and bounds. Requests accept paths as people write them
 * (`~`, `~/x`, `/home/user/x`, `x`), responses contain `~` or `~/x`. Sizes in bytes, times RFC 3339.
 *
 *   GET    /v1/health                                    daemonHealth; without a token `{ok: true, protocol}` only
 *   GET    /v1/files/stat?path                           {entry}
 *   GET    /v1/files?path&limit&cursor                   workspaceListing; a file: workspaceFile (its first 256 KiB)
 *   GET    /v1/files/content?path&reader                 the bytes, with HEAD, Range, ETag, If-Range, If-None-Match
 *   PUT    /v1/files/content?path&onConflict&size&mode   body: the bytes -> 201 {entry}; creates missing parent folders;
 *                                                        mode 444 or 555: the file is read-only
 *   POST   /v1/files/edit       {path, edits: [{oldText, newText, all?}], reader?}  -> {entry, replaced}
 *   POST   /v1/files/text       {path, text, reader?}    -> {entry}; path_taken if the file is not as `reader` read it.
 *                                                        Both keep encoding, line ends, mode and links of a file
 *   POST   /v1/files/folder     {path}                   -> 201 {entry}
 *   POST   /v1/files/move       {from, to, onConflict?}  -> {entry}
 *   DELETE /v1/files?path                                -> {ok: true}; a folder with everything in it
 *   GET    /v1/files/archive?path                        the folder as .zip
 *   POST   /v1/files/find       {path?, glob?, limit?}   -> {entries, truncated}
 *   POST   /v1/files/search     {path?, pattern, glob?, limit?}  -> {matches: [{path, line, text}], truncated}
 *   GET    /v1/exec                                      execAbilities
 *   POST   /v1/exec             execRequest -> NDJSON of execEvent; ends after `exit`, or after `start` in the background
 *   GET    /v1/processes                                 {processes: [processState]}
 *   GET    /v1/processes/:id/output?after=N&follow=      NDJSON of execEvent from byte N of its log, then live until it ends;
 *                                                        follow=false: ends at the current end of the log
 *   POST   /v1/processes/:id/signal  {signal}            -> {process}
 *   GET    /v1/terminal?id&columns&rows                  WebSocket, see terminalMessage
 *   DELETE /v1/terminal?id                               -> {ok: true}
 *   GET    /v1/changes                                   {turns: [id]}, the oldest first
 *   POST   /v1/changes/forget   {turns: [id]}            -> {ok: true}; deletes their records
 *   GET    /v1/changes/:turn                             turnChanges; empty if nothing is known of the turn
 *   POST   /v1/changes/:turn/undo | redo  {paths?, force?}  -> changesApplied; with conflicts nothing was written
 *   GET    /v1/changes/:turn/content?path&side=before|after  the bytes
 *   GET    /v1/notes                                     workspaceNotes
 *   GET    /v1/pipe                                      upgrade, then bytes: a first line {command, args, env}, then stdin of
 *                                                        the program; returns its stdout and, when it has ended, a last
 *                                                        line `#exit {exitCode, signal, stderr}`
 *   GET    /v1/ports                                     workspacePorts: ports with a listening program on loopback
 *   GET    /v1/tunnel?port                               upgrade, then the bytes of a connection to that port; not_found
 *                                                        when nothing listens on it
 *   POST   /v1/drain            {message}                -> {ok: true}; shows the message in terminals and in the output of
 *                                                        running commands, and starts nothing new
 *   POST   /v1/shutdown                                  -> {ok: true}
 *
 * Writes with a turn's id (`turn` of an exec request and an edit, `&turn=` of content) are recorded as that turn's changes.
 *
 * Errors: `{error: {code, message}}` with a code of daemon-errors.ts.
 */
/**
 * The version that a daemon's health states as `protocol`, with and without a token. Change it with anything above or
 * below: a workspace whose daemon states another version, or none, is drained and replaced. `/v1/health` with
 * `protocol` and `active`, and `/v1/drain`, are the same in every version.
 */
export const daemonProtocol = 3;

export const daemonError = z.object({
  error: z.object({ code: z.string().max(64), message: z.string().max(1000) }),
});

const path = z.string().min(1).max(4096);
const count = z.number().int().min(0).max(Number.MAX_SAFE_INTEGER);

export const workspaceEntry = z.object({
  name: z.string().min(1).max(1024),
  path,
  type: z.enum(['file', 'directory', 'symlink']),
  size: count,
  modifiedAt: z.iso.datetime(),
});
export type WorkspaceEntry = z.infer<typeof workspaceEntry>;

export const workspaceFolder = z.object({
  path,
  type: z.literal('directory'),
  entries: z.array(workspaceEntry).max(1000),
});
export const workspaceListing = workspaceFolder.extend({ nextCursor: z.string().max(2048).nullable() });
export type WorkspaceListing = z.infer<typeof workspaceListing>;

export const workspaceFile = z.object({
  path,
  type: z.literal('file'),
  size: count,
  mediaType: z.string().max(255),
  modifiedAt: z.iso.datetime(),
  encoding: z.enum(['utf-8', 'base64', 'none']),
  /** The first 256 KiB; empty when `encoding` is `none`. */
  content: z.string().max(1024 * 1024),
  truncated: z.boolean(),
});
export type WorkspaceFile = z.infer<typeof workspaceFile>;

export const daemonHealth = z.object({
  ok: z.literal(true),
  protocol: z.literal(daemonProtocol),
  generation: count,
  bootId: z.string().max(64),
  active: z.object({ processes: count, terminals: count, transfers: count }),
  lastActivityAt: z.iso.datetime(),
  usage: z.object({
    memoryBytes: count,
    memoryLimitBytes: count.nullable(),
    processes: count,
    /** In blocks on the disk; null for no limit. */
    homeBytes: count,
    homeBytesLimit: count.nullable(),
    homeFiles: count,
    homeFilesLimit: count.nullable(),
    /** Why nothing can be written; null while it can. */
    full: z.string().max(1000).nullable(),
  }),
});
export type DaemonHealth = z.infer<typeof daemonHealth>;

export const portNumber = z.number().int().min(1).max(65_535);

export const workspacePorts = z.object({
  /** `command`: the program's command line, shortened; null where it is not known. */
  ports: z.array(z.object({ port: portNumber, command: z.string().max(200).nullable() })).max(100),
});

/** Output kept of one command for later requests: its beginning and its end; all of it is in `logPath`. */
const execRequest = z.object({
  /** Made by the caller; the same id with the same request joins the running command. */
  id: z.string().regex(/^[A-Za-z0-9_-]{1,128}$/),
  command: z
    .string()
    .min(1)
    .max(128 * 1024),
  cwd: z.string().max(4096).optional(),
  timeoutMs: z.number().int().min(1).max(3_600_000).optional(),
  background: z.boolean().optional(),
  /** It may write nothing, open no connection and reach no other process. Refused where that cannot be enforced. */
  readOnly: z.boolean().optional(),
  /** The namespace that the command-line tool uses by default, `chat:<id>` or `project:<id>`: HOMEPORT_SCOPE. */
  scope: z
    .string()
    .regex(/^(?:chat|project):[A-Za-z0-9_-]{1,128}$/)
    .optional(),
  /** Both outputs arrive as `stdout`, in the order in which they were written. */
  joined: z.boolean().optional(),
  /** The person, for the commits of Git. */
  author: z.object({ name: z.string().max(200), email: z.string().max(320) }).optional(),
  /** Turn to which changes of files are attributed. */
  turn: z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,128}$/)
    .optional(),
});
export type ExecRequest = z.infer<typeof execRequest>;

/** `readOnly`: whether commands can be kept from writing, tried once by the daemon. */
export const execAbilities = z.object({ readOnly: z.boolean() });

export const execEvent = z.discriminatedUnion('type', [
  z.object({ type: z.literal('start'), id: z.string(), pid: count, logPath: path }),
  /** `data` is text with invalid UTF-8 replaced; at most 32 KiB each. */
  z.object({ type: z.literal('stdout'), data: z.string() }),
  z.object({ type: z.literal('stderr'), data: z.string() }),
  z.object({ type: z.literal('ping') }),
  z.object({
    type: z.literal('exit'),
    /** Null when a signal ended it. */
    exitCode: z.number().int().nullable(),
    signal: z.string().nullable(),
    timedOut: z.boolean(),
    durationMs: count,
    outputBytes: count,
    /** Bytes of output that are not in the log because it is full. */
    omittedBytes: count,
  }),
]);
export type ExecEvent = z.infer<typeof execEvent>;

export const processState = z.object({
  id: z.string().max(128),
  command: z.string().max(1000),
  pid: count,
  background: z.boolean(),
  running: z.boolean(),
  startedAt: z.iso.datetime(),
  exitCode: z.number().int().nullable(),
  signal: z.string().max(32).nullable(),
  outputBytes: count,
  logPath: path,
});
export type ProcessState = z.infer<typeof processState>;

const changedSide = z.union([
  z.object({
    type: z.literal('file'),
    mode: count,
    size: count,
    /** Whether its content can be shown and put back. */
    kept: z.boolean(),
  }),
  z.object({ type: z.literal('symlink'), target: z.string().max(1000) }),
  z.object({ type: z.literal('directory'), mode: count }),
]);

const changedFile = z.object({
  path,
  change: z.enum(['added', 'modified', 'deleted']),
  /** Null: there was nothing. */
  before: changedSide.nullable(),
  after: changedSide.nullable(),
  /** Lines that a text gained and lost; absent for other files, for large ones and in responses of older daemons. */
  lines: z.object({ added: count, removed: count }).optional(),
  /** How it is now: as the turn left it, as it was before, or neither. */
  state: z.enum(['applied', 'undone', 'changed']),
  /** True if the file was possibly changed by another process during the turn. */
  mixed: z.boolean(),
});
export type ChangedFile = z.infer<typeof changedFile>;

export const turnChanges = z.object({
  files: z.array(changedFile).max(5000),
  /** Folders that could not be read; their changes are unknown. */
  left: z.array(z.object({ path, reason: z.enum(['too_many', 'time', 'unreadable']) })).max(100),
  /** There are more files than are listed. */
  truncated: z.boolean(),
});
export type TurnChanges = z.infer<typeof turnChanges>;

export const changesApplied = z.object({
  applied: count,
  conflicts: z.array(path).max(1000),
  skipped: z.array(z.object({ path, reason: z.enum(['not_kept', 'in_the_way', 'failed']) })).max(1000),
});

/**
 * Notes for a model before it works in the home: the nearest `AGENTS.md` of each folder and the beginnings of skills.
 */
export const workspaceNotes = z.object({
  programs: z.array(z.string().max(64)).max(100),
  /** Absent in responses of older daemons. */
  pythonModules: z.array(z.string().max(64)).max(100).optional(),
  agents: z.array(z.object({ folder: path, text: z.string().max(64 * 1024) })).max(50),
  skills: z.array(z.object({ path, head: z.string().max(8 * 1024) })).max(100),
});
export type WorkspaceNotes = z.infer<typeof workspaceNotes>;

export const daemonTurns = z.object({ turns: z.array(z.string().max(128)).max(1000) });

/**
 * Terminal: binary messages are the terminal's bytes, both ways; text messages are JSON. The daemon begins with
 * `attached`, then sends the output it kept (256 KiB), then new output.
 */
export type TerminalMessage =
  | { type: 'resize'; columns: number; rows: number }
  /** Ends the shell; `exit` follows. */
  | { type: 'close' }
  | { type: 'attached'; id: string; isNew: boolean }
  | { type: 'exit'; exitCode: number };

/**
 * The daemon's environment, made by a runtime. Secrets are in files, their names here.
 *
 *   HOMEPORT_HOME            /home/user
 *   HOMEPORT_GENERATION      a number
 *   HOMEPORT_LISTEN          `fd:3` (a listening socket that was handed in) | `tcp:<host>:<port>` | `unix:<path>`
 *   HOMEPORT_READY_FD        a descriptor that gets one line when the daemon answers; optional
 *   HOMEPORT_DAEMON_HASH_FILE  a file with the hex SHA-256 of the token that opens the daemon
 *   HOMEPORT_TOKEN_FILE      a file with the workspace's own token, for the control plane
 *   HOMEPORT_URL             address of the control plane: `http://…` | `unix:<path>`
 *   HOMEPORT_DISK_BYTES, HOMEPORT_DISK_FILES  disk quota of the home; unset or 0: no limit
 *   HOMEPORT_MODELS          `1`: programs can call models. The daemon then serves the two paths of program-models.ts at
 *                            127.0.0.1:3129/v1; commands get OPENAI_BASE_URL and, as OPENAI_API_KEY, a token only for
 *                            these paths
 *   HOMEPORT_EGRESS          the control plane's proxy, `unix:<path>` | `tcp:<host>:<port>`; unset: no network access. The
 *                            daemon listens at 127.0.0.1:3128 for it and adds
 *                            `proxy-authorization: Bearer <workspace token>`
 *
 * Commands get HOME, PATH, LANG, TERM, USER, SHELL, TMPDIR, HOMEPORT_URL, HOMEPORT_TOKEN_FILE, HOMEPORT_PROCESS (their
 * id), HOMEPORT_SCOPE if the request has a scope and, with egress, the usual *_PROXY and NODE_USE_ENV_PROXY; variables
 * that make editors and pagers end at once; GIT_CONFIG_SYSTEM, a file with the person's name; and VIRTUAL_ENV, the
 * virtual environment of Python in ~/.workspace/homeport-venv. `readOnly` commands get only variables without permissions: HOME, PATH, LANG,
 * TERM, USER, SHELL, TMPDIR and HOMEPORT_PROCESS.
 */
export const egressBridgePort = 3128;
export const modelsPort = 3129;
