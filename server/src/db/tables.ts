import type { ColumnType, Generated } from 'kysely';

/** Rows as Kysely sees them; the SQL of `migrations/` is the truth. Columns are written in camelCase here. */

type CreatedAt = ColumnType<Date, Date | undefined, never>;
type UpdatedAt = ColumnType<Date, Date | undefined, Date>;
type Flag = ColumnType<boolean, boolean | undefined, boolean>;
type Sequence = ColumnType<number, never, never>;
/** jsonb: read parsed, written as JSON text. */
type Json<T> = ColumnType<T, string, string>;
type NullableJson<T> = ColumnType<T | null, string | null | undefined, string | null>;

export type UsersTable = {
  id: string;
  name: string;
  email: string;
  emailVerified: Flag;
  image: string | null;
  role: 'admin' | 'user';
  enabled: Flag;
  mustChangePassword: Flag;
  providerSettingsEnabled: Flag;
  mcpSettingsEnabled: Flag;
  createdAt: CreatedAt;
  updatedAt: UpdatedAt;
};

export type SessionsTable = {
  id: string;
  userId: string;
  token: string;
  expiresAt: Date;
  ipAddress: string | null;
  userAgent: string | null;
  createdAt: CreatedAt;
  updatedAt: UpdatedAt;
};

export type CredentialsTable = {
  id: string;
  userId: string;
  accountId: string;
  providerId: string;
  issuer: string | null;
  password: string | null;
  accessToken: string | null;
  refreshToken: string | null;
  idToken: string | null;
  accessTokenExpiresAt: Date | null;
  refreshTokenExpiresAt: Date | null;
  scope: string | null;
  createdAt: CreatedAt;
  updatedAt: UpdatedAt;
};

export type VerificationsTable = {
  id: string;
  identifier: string;
  value: string;
  expiresAt: Date;
  createdAt: CreatedAt;
  updatedAt: UpdatedAt;
};

export type SignInFailuresTable = { id: Sequence; address: string; email: string; at: CreatedAt };

export type InstallationTable = {
  singleton: Generated<boolean>;
  setupCompletedAt: Date | null;
  setupUserId: string | null;
};

export type ModelTiersTable = { ownerId: string; value: number; label: string; position: number };

export type ProvidersTable = {
  id: string;
  seq: Sequence;
  ownerId: string;
  name: string;
  baseUrl: string;
  apiKey: string | null;
  headers: string | null;
  enabled: Flag;
  createdAt: CreatedAt;
  updatedAt: UpdatedAt;
};

export type ModelsTable = {
  id: string;
  seq: Sequence;
  ownerId: string;
  providerId: string;
  providerModelId: string;
  displayName: string;
  contextWindow: number;
  maxOutputTokens: number;
  tier: number;
  enabled: Flag;
  isDefault: Flag;
  createdAt: CreatedAt;
};

export type ChatsTable = {
  id: string;
  ownerId: string;
  title: string;
  titleSource: Generated<'none' | 'instant' | 'model' | 'person'>;
  archived: Flag;
  projectId: string | null;
  modelPinned: Flag;
  modelId: string | null;
  mcpServerIds: NullableJson<string[]>;
  contextStartMessageId: string | null;
  activeMessageId: string | null;
  titleSearch: ColumnType<string, never, never>;
  createdAt: CreatedAt;
  updatedAt: UpdatedAt;
};

export type MessageStatus = 'complete' | 'streaming' | 'stopped' | 'failed' | 'interrupted';

export type MessagesTable = {
  id: string;
  seq: Sequence;
  chatId: string;
  parentId: string | null;
  role: 'user' | 'assistant';
  /** JSON text of MessagePart[]. */
  parts: string;
  /** JSON text of the provider messages this one becomes, without the array's brackets. */
  prompt: string | null;
  promptTokens: number | null;
  status: MessageStatus;
  errorCode: string | null;
  errorMessage: string | null;
  modelId: string | null;
  usage: NullableJson<{ inputTokens: number; outputTokens: number; reasoningTokens?: number }>;
  search: string | null;
  createdAt: CreatedAt;
};

/** The model decision that a submission carries (specification, POST /api/chat). */
export type Decision = { modelPinned?: boolean; modelId?: string | null; mcpServerIds?: string[] | null };

export type InputsTable = {
  id: string;
  position: Sequence;
  chatId: string;
  ownerId: string;
  assistantId: string;
  state: Generated<'queued' | 'applied' | 'cancelled'>;
  parts: string;
  parentId: string | null;
  parentGiven: boolean;
  decision: Json<Decision>;
  requestHash: string;
  startAfter: Date;
  createdAt: CreatedAt;
};

export type ResponseState = 'running' | 'complete' | 'stopped' | 'failed' | 'interrupted';

export type ResponsesTable = {
  id: string;
  chatId: string;
  messageId: string;
  ownerId: string;
  state: ResponseState;
  replica: string;
  generation: Generated<number>;
  firstSeq: Generated<number>;
  lastSeq: Generated<number>;
  leaseUntil: Date;
  stopRequested: Flag;
  endFrames: string | null;
  decision: Json<Decision>;
  startedAt: CreatedAt;
  endedAt: Date | null;
};

export type ResponseFramesTable = {
  responseId: string;
  generation: number;
  seqFrom: number;
  seqTo: number;
  frames: string;
};

export type Tables = {
  users: UsersTable;
  sessions: SessionsTable;
  credentials: CredentialsTable;
  verifications: VerificationsTable;
  signInFailures: SignInFailuresTable;
  installation: InstallationTable;
  modelTiers: ModelTiersTable;
  providers: ProvidersTable;
  models: ModelsTable;
  chats: ChatsTable;
  messages: MessagesTable;
  inputs: InputsTable;
  responses: ResponsesTable;
  responseFrames: ResponseFramesTable;
};
