import type { Generated } from 'kysely';
import type { CreatedAt, Flag, UpdatedAt, WithDefault } from '../columns.ts';

export type ImportState = 'reading' | 'ready' | 'importing' | 'done' | 'failed' | 'cancelled' | 'undone';

export type ImportsTable = {
  id: string;
  owner_id: string;
  state: ImportState;
  is_wanted: boolean;
  is_undoing: Flag;
  filename: string | null;
  source: string | null;
  sha256: string | null;
  size: number;
  instructions: string | null;
  problems: WithDefault<string[]>;
  attempts: Generated<number>;
  claim: string | null;
  claimed_until: Date | null;
  created_at: CreatedAt;
  updated_at: UpdatedAt;
  ended_at: Date | null;
};

export type ImportKind = 'conversation' | 'project' | 'assistant' | 'prompt' | 'skill';
export type ImportOutcome = 'new' | 'more' | 'same' | 'left_out';

export type ImportEntriesTable = {
  import_id: string;
  position: number;
  kind: ImportKind;
  title: string;
  outcome: ImportOutcome;
  reason: string | null;
  messages: Generated<number>;
  files: Generated<number>;
  target_id: string | null;
  is_done: Flag;
  first_seq: number | null;
  last_seq: number | null;
};
