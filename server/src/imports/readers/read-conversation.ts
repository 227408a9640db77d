import type { MessageFinishReason } from '@homeport/contracts/chat/finish-reasons';
import type { MessagePart } from '@homeport/contracts/chat/frames';
import type { Parameters } from '@homeport/contracts/chat/parameters';
import type { ImportSource } from '@homeport/contracts/imports';
import type { Members } from './values.ts';

/** The common output of all readers of archives. */

/** Bounds of what is read; together they keep the process that reads below its memory. */
export const importBounds = {
  /** JSON of one conversation. */
  elementBytes: 32 * 1024 * 1024,
  sideFileBytes: 8 * 1024 * 1024,
  /** Of a list of prompts or assistants, of one of them, and how many of each, and of skills, are read. */
  ownBytes: 64 * 1024 * 1024,
  ownItemBytes: 256 * 1024,
  own: 1_000,
  conversations: 100_000,
  projects: 500,
  nodes: 50_000,
  /** Parts of one conversation as they will be stored. */
  partsBytes: 32 * 1024 * 1024,
  filesPerConversation: 1_000,
  fileBytes: 512 * 1024 * 1024,
  /** Of a file whose bytes are in the JSON. */
  inlineBytes: 24 * 1024 * 1024,
  entries: 200_000,
  /** Of the names and extra fields of all entries, and of their comments, which no export has. */
  directoryBytes: 64 * 1024 * 1024,
  commentBytes: 1024 * 1024,
  /** Of one conversation, one list of prompts or assistants, and other files: counted before they are parsed. */
  json: { depth: 500, values: 2_000_000, names: 1_500_000 },
  sideJson: { depth: 64, values: 400_000, names: 400_000 },
  unpackedBytes: 16 * 1024 ** 3,
  /** The maximum ratio of unpacked to packed size, beyond the first 256 MiB. */
  ratio: 200,
  /** Without an answer for this long, reading has failed. */
  stepMs: 120_000,
  heapMb: 512,
  /** Processor time of a whole archive. */
  cpuMs: 1_200_000,
} as const;

/** A file of a conversation or project: in the archive under its entry's name, or as bytes from the JSON. */
export type ReadFile = {
  /** Unique within its conversation or project. */
  sourceId: string;
  name: string;
  mediaType: string | undefined;
  createdAt: string | null;
  content: ReadContent;
  /** Only of a file that was replaced where it comes from. */
  versions?: ReadVersions;
};
export type ReadContent = { entry: string } | { bytes: Uint8Array<ArrayBuffer> };
/** The version number and time of the present content, and the earlier versions, newest first. */
export type ReadVersions = {
  present: number;
  changedAt: string | null;
  earlier: { version: number; mediaType: string | undefined; createdAt: string | null; content: ReadContent }[];
};

/** `parts` names the conversation's files as `import:<index>`. */
export type ReadMessage = {
  sourceId: string;
  parentId: string | null;
  role: 'user' | 'assistant';
  parts: MessagePart[];
  createdAt: string | null;
  /** The name of the model that answered. */
  model: string | null;
  status: 'complete' | 'stopped' | 'failed' | 'interrupted';
  error: { code: string; message: string } | null;
  /** How it ended, if the other program stores that. */
  finish?: { reason: MessageFinishReason; detail: string | null };
  usage: unknown;
};

export type ReadConversation = {
  kind: 'conversation';
  source: ImportSource;
  sourceId: string;
  title: string;
  createdAt: string | null;
  updatedAt: string | null;
  archived: boolean;
  instructions: string | null;
  parameters: Parameters;
  /** The source id of its project. */
  projectId: string | null;
  /** Parents before their children. */
  messages: ReadMessage[];
  activeId: string | null;
  files: ReadFile[];
  /** Parts that will not be imported, in words. */
  notes: string[];
};

export type ReadProject = {
  kind: 'project';
  source: ImportSource;
  sourceId: string;
  name: string;
  archived: boolean;
  instructions: string | null;
  createdAt: string | null;
  files: ReadFile[];
};

type ReadOwn = {
  source: ImportSource;
  sourceId: string;
  title: string;
  /** Differences after the import, in words. */
  notes: string[];
};
/** `fields` are unvalidated: the consumer checks them. */
export type ReadPrompt = ReadOwn & { kind: 'prompt'; fields: Members };
export type ReadAssistant = ReadOwn & { kind: 'assistant'; fields: Members; files: ReadFile[] };
/** `files` are in the archive; `path` is within the skill. */
export type ReadSkill = ReadOwn & { kind: 'skill'; files: { entry: string; path: string }[] };

/** A conversation that cannot come, and why. */
export type LeftOut = { kind: 'left-out'; source: ImportSource; sourceId: string; title: string; reason: string };
/** Something about the archive as a whole. */
type ReadNote = { kind: 'note'; message: string };
/** Custom instructions of the user in the other program. */
type ReadInstructions = { kind: 'instructions'; text: string };

export type ReadItem =
  | ReadConversation
  | ReadProject
  | ReadPrompt
  | ReadAssistant
  | ReadSkill
  | LeftOut
  | ReadNote
  | ReadInstructions;

/** The archive as a whole cannot be read; the message is for the person. */
export class ImportRefused extends Error {}

/** One conversation cannot come; the message completes "left out: …". */
export class ConversationRefused extends Error {}
