import type { MessageFinishReason } from '@homeport/contracts/chat/finish-reasons';
import type { ShareAudience, ShareInclude } from '@homeport/contracts/sharing';
import type { ColumnType, Generated } from 'kysely';
import type { CreatedAt, Flag, Json, UpdatedAt } from '../columns.ts';
import type { MessageStatus } from './chat.ts';

/** Rows of share links; see tables.ts. */

export type SharesTable = {
  id: string;
  owner_id: string;
  /** SHA-256 of the token in the address. */
  token_hash: string;
  /** Exactly one of these two is set. */
  chat_id: string | null;
  artifact_id: string | null;
  /** The newest message of the snapshot. */
  leaf_message_id: string | null;
  title: string;
  /** The owner's name; null unless it is published. */
  author: string | null;
  audience: ShareAudience;
  password_hash: string | null;
  expires_at: Date | null;
  include: Json<ShareInclude>;
  views: ColumnType<number, never, number>;
  /** Counts changes; signed addresses of files belong to one revision. */
  revision: Generated<number>;
  created_at: CreatedAt;
  updated_at: UpdatedAt;
};

export type SharePeopleTable = { share_id: string; user_id: string };

export type ShareMessagesTable = {
  share_id: string;
  n: number;
  role: 'user' | 'assistant';
  status: MessageStatus;
  /** JSON text of the published parts. */
  parts: string;
  finish_reason: MessageFinishReason | null;
  created_at: Date;
};

/** A file as it was when the snapshot was made. */
export type ShareFilesTable = {
  share_id: string;
  n: number;
  artifact_id: string;
  sha256: string;
  size: number;
  media_type: string;
  filename: string;
};

export type ShareTriesTable = {
  id: Generated<number>;
  share_id: string;
  address: string;
  failed: Flag;
  at: Date;
};
