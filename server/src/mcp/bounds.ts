import { limits } from '@homeport/contracts/limits';

/** Bounds of what an MCP server may make us do. Times in milliseconds, sizes in bytes. */
export const mcpBounds = {
  tools: limits.mcpToolsPerServer,
  toolName: limits.mcpToolNameMax,
  /** Levels of nesting in a definition or result. */
  depth: 64,
  /** The canonical JSON of one definition, and of all of them. */
  definitionBytes: 128 * 1024,
  definitionsBytes: 2 * 1024 * 1024,
  pages: 64,
  /** One line of JSON or one event of a stream. */
  messageBytes: 8 * 1024 * 1024,
  /** All that one answer or stream may bring before it is cut. */
  streamBytes: 64 * 1024 * 1024,
  /** Events of one stream in ten seconds. */
  eventsPer10s: 1_000,
  /** What a server may ask of us in ten seconds; each costs an answer. */
  requestsPer10s: 50,
  connectMs: 10_000,
  /** The question whether a server speaks the newest protocol; those that do not know it may ignore it. */
  probeMs: 3_000,
  /** From the first byte to the last definition. */
  listMs: 15_000,
  callMs: 10 * 60_000,
  /** How long the beginning of a turn waits for a server before it goes on without. */
  turnPatienceMs: 5_000,
  /** How long a server that failed is left alone by turns. */
  backOffMs: 30_000,
  /** How long a listing stands without being asked for again, on a connection that would be told of changes. */
  listingMs: 60_000,
  idleMs: 5 * 60_000,
  connections: 500,
  connectionsPerOwner: 50,
  /** Between two attempts to have a stream of notifications again, and how many there are. */
  reopenMs: 1_000,
  reopens: 20,
  /** Characters of a server's own words in an error. */
  errorText: 500,
  resultText: 256 * 1024,
  files: 8,
  /** Characters of one file's data in base64, and of all files of a result. */
  fileData: 1024 * 1024,
  filesData: 2 * 1024 * 1024,
} as const;
