import { limits } from '@homeport/contracts/limits';

/** Limits on what an MCP server can make us do. Times in milliseconds, sizes in bytes. */
export const mcpBounds = {
  tools: limits.mcpToolsPerServer,
  toolName: limits.mcpToolNameMax,
  /** Levels of nesting in a definition or result. */
  depth: 64,
  /** The canonical JSON of one definition, and of all of them. */
  definitionBytes: 128 * 1024,
  definitionsBytes: 2 * 1024 * 1024,
  pages: 64,
  /** All pages of a list together, as far as they are read. */
  listBytes: 8 * 1024 * 1024,
  /** One line of JSON or one event of a stream. */
  messageBytes: 12 * 1024 * 1024,
  /** Everything in one response or stream before it is cut off. */
  streamBytes: 64 * 1024 * 1024,
  /** Events of one stream in ten seconds. */
  eventsPer10s: 1_000,
  /** Requests accepted from a server in ten seconds; each one costs a response. */
  requestsPer10s: 50,
  connectMs: 10_000,
  /** The same for a program: its workspace has to start first, and the program can need a download. */
  programStartMs: 90_000,
  /** Characters of a server's version. */
  versionText: 100,
  /** Asking whether a server supports the newest protocol; servers that do not know it may ignore the request. */
  probeMs: 3_000,
  /** Trying the older transport at an address that does not take the newer one. */
  olderTransportMs: 5_000,
  /** How long a closed connection sends the notices about its canceled calls. */
  cancelMs: 2_000,
  /** From the first byte to the last definition. */
  listMs: 15_000,
  /** The silence of a call before it is given up, which progress ends, and all of its time. */
  callMs: 10 * 60_000,
  callTotalMs: 60 * 60_000,
  /** How long a person is waited for: less than the silence of a call. How often a call may ask. */
  elicitMs: 9 * 60_000,
  elicitations: 5,
  /** Characters of one question's JSON. */
  elicitationText: 128 * 1024,
  /** Characters of a progress line, and the interval between two of them. */
  progressText: 300,
  progressMs: 1_000,
  /** How long the beginning of a turn waits for a server before continuing without it. */
  turnPatienceMs: 5_000,
  programPatienceMs: 20_000,
  /** How long turns leave a failed server alone. */
  backOffMs: 30_000,
  /** How long a listing stays valid on a connection that receives change notifications. */
  listingMs: 60_000,
  idleMs: 5 * 60_000,
  connections: 500,
  connectionsPerOwner: 50,
  /** The pause before an ended stream is opened again, which the server may choose, and how often while nothing runs. */
  reopenMinMs: 300,
  reopenMaxMs: 30_000,
  reopens: 20,
  /** Characters of a server's own text in an error. */
  errorText: 500,
  /** Pieces of a result. */
  blocks: 1000,
  resultText: 256 * 1024,
  /** Characters of a description of a resource or prompt, and messages of a prompt. */
  describedText: 1000,
  promptMessages: 100,
  files: 8,
  /** Bytes of a file that is stored as a file of the conversation, and of all of them in a result. */
  largeFile: 8 * 1024 * 1024,
  largeFiles: 16 * 1024 * 1024,
  /** Links in a result that can be read. */
  links: 100,
  /** Characters of base64 data of a file that is kept in the answer itself, and of all of them in a result. */
  fileData: 1024 * 1024,
  filesData: 2 * 1024 * 1024,
} as const;
