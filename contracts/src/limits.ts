/**
 * Limits shared by server and browser client (control-plane-api.md "Limits", contract.md). Sizes in bytes, times in
 * milliseconds.
 */
export const limits = {
  /** Between two events of `GET /api/live/stream`: far more than a network needs, less than anybody minds to wait. */
  liveStreamPieceMs: 330,
  /** The largest JSON body of any endpoint. `maxBodyBytes` in endpoint.ts gives the limit of each. */
  jsonBodyBytes: 10 * 1024 * 1024,
  /** For public endpoints; below it, the default for all others. */
  publicBodyBytes: 16 * 1024,
  defaultBodyBytes: 256 * 1024,
  /** Fits all headers and tool policies, or both branding images, at their largest. */
  credentialBodyBytes: 2 * 1024 * 1024,
  brandingBodyBytes: 4 * 1024 * 1024,
  manifestBytes: 64 * 1024 * 1024,
  artifactMaxUploadBytes: 100 * 1024 * 1024,
  nameMin: 2,
  nameMax: 100,
  emailMax: 254,
  passwordMin: 12,
  passwordMax: 128,
  titleMax: 200,
  searchMax: 200,
  providersPerOwner: 100,
  /** People with whom one provider is shared by name. */
  sharedUsersMax: 1000,
  modelsPerProvider: 1000,
  providerNameMax: 100,
  baseUrlMax: 2048,
  apiKeyMax: 4096,
  headerCount: 64,
  headerNameMax: 128,
  headerValueMax: 8192,
  providerModelIdMax: 256,
  displayNameMax: 100,
  contextWindowMax: 100_000_000,
  tierCountMax: 32,
  tierValueMax: 2_147_483_647,
  tierLabelMax: 40,
  clientIdMax: 128,
  effortNameMax: 20,
  effortsMax: 20,
  /** Millionths of a US dollar for 1,000,000 tokens. */
  priceMax: 1_000_000_000_000,
  /** Tokens, or millionths of a US dollar. */
  budgetMax: 1_000_000_000_000_000,
  budgetCountMax: 1000,
  usageDaysMax: 400,
  usageRowsMax: 1000,
  usageCsvRowsMax: 100_000,
  registryBytes: 5 * 1024 * 1024,
  /** Characters per layer of instructions. */
  instructionsMax: 16_000,
  stopTextMax: 200,
  stopTextsMax: 4,
  localeMax: 35,
  timeZoneMax: 64,
  /** A temporary conversation is deleted this long after its last use. */
  temporaryHours: 24,
  partsPerMessage: 100,
  messageTextMax: 1_000_000,
  /** A whole message with all parts, as JSON. */
  answerBytes: 8 * 1024 * 1024,
  queuedInputsPerChat: 50,
  /** A conversation that has more than this queued takes no more. */
  queuedBytesPerChat: 16 * 1024 * 1024,
  /** `GET /api/chats/activity` streams that one account may hold open at one replica. */
  activityStreamsPerUser: 32,
  mcpServersPerChat: 50,
  mcpServersPerOwner: 50,
  mcpOffers: 100,
  /** Resources or prompts of one server that are listed. */
  mcpListed: 1000,
  mcpUriMax: 2048,
  mcpPromptArguments: 50,
  mcpPromptArgumentMax: 16_000,
  mcpPromptTextMax: 100_000,
  artifactSourceMax: 2500,
  mcpOfferDescriptionMax: 300,
  mcpServerNameMax: 100,
  mcpToolNameMax: 256,
  mcpToolsPerServer: 500,
  mcpCommandMax: 4096,
  mcpArgsMax: 100,
  mcpArgMax: 4096,
  mcpEnvMax: 50,
  mcpEnvNameMax: 128,
  mcpEnvValueMax: 8192,
  oauthClientIdMax: 2048,
  oauthClientSecretMax: 4096,
  /** Each member of an authorization server's answer that comes through the browser. */
  oauthAnswerMax: 4096,
  returnToMax: 2048,
  fingerprintMax: 256,
  projectNameMax: 100,
  projectMembersMax: 500,
  projectsPerUser: 500,
  assistantsPerOwner: 200,
  promptsPerOwner: 500,
  skillsPerOwner: 100,
  /** One skill unpacked, in files and bytes, and as it is uploaded. */
  skillFiles: 200,
  skillBytes: 4 * 1024 * 1024,
  skillUploadBytes: 8 * 1024 * 1024,
  skillPathMax: 200,
  /** All skills of one person, and all for everyone. */
  skillBytesPerOwner: 64 * 1024 * 1024,
  skillBytesForEveryone: 256 * 1024 * 1024,
  /** Assistants for everyone, and as many prompts and skills. */
  sharedWithEveryoneMax: 1000,
  assistantNameMax: 100,
  assistantDescriptionMax: 500,
  /** Characters of a data URL: a picture of about 24 kB. */
  assistantIconMax: 32 * 1024,
  startersMax: 6,
  starterMax: 500,
  /** The newest versions of an assistant are kept. */
  versionsKept: 100,
  versionMax: 2_147_483_647,
  promptTitleMax: 100,
  promptTextMax: 16_000,
  artifactPathMax: 1024,
  /** Earlier versions of one artifact that are kept: the newest, and so many bytes. */
  artifactVersionsKept: 20,
  artifactVersionBytes: 512 * 1024 * 1024,
  /** The daemon accepts 4,095 UTF-8 bytes. */
  /** Model requests of programs in a workspace: bytes of one, and per replica how many at once and per hour. */
  programRequestBytes: 4 * 1024 * 1024,
  programTextMax: 4 * 1024 * 1024,
  programPartsMax: 100,
  programMessagesMax: 1000,
  programToolsMax: 128,
  programCallsAtOnce: 4,
  programCallsBurst: 60,
  programCallsPerHour: 600,
  programCallMinutes: 30,
  workspacePathMax: 4096,
  previewPathMax: 2000,
  /** Background commands of a workspace that are listed, and bytes of the output of one. */
  processesShown: 200,
  processOutputMax: 32 * 1024,
  /** Paths of one undo or redo. */
  changedPathsMax: 1000,
  importSourceMax: 256,
  /** An archive from another application; larger than the limit of a file. */
  importBytes: 8 * 1024 ** 3,
  importFilenameMax: 255,
  /** Imports of one account that have not ended. */
  importsOpenPerUser: 5,
  mediaTypeMax: 255,
  productNameMax: 60,
  taglineMax: 140,
  /** Characters of a data URL: an image of about 380 kB. */
  brandingImageMax: 512 * 1024,
  oidcLabelMax: 60,
  /** Age of a session that still counts as a recent sign-in. */
  recentSignInMinutes: 60,
  oidcClientIdMax: 512,
  oidcClientSecretMax: 4096,
  oidcScopesMax: 512,
  allowedDomainsMax: 50,
  invitationHoursMax: 8760,
  invitationTokenMax: 256,
  provisionChangesMax: 1000,
  manifestUsersMax: 10_000,
  manifestPartsMax: 10_000,
  approvalReasonMax: 1000,
  summaryTextMax: 32_000,
  summaryFocusMax: 1000,
  delegatesAtOnce: 4,
  delegatesPerTurn: 20,
  delegateStepsMax: 100,
  delegateTaskMax: 50_000,
  delegateAnswerMax: 30_000,
  turnStepsMax: 2000,
  turnMinutesMax: 1440,
  turnTokensMin: 1000,
  turnTokensMax: 1_000_000_000,
  /** Questions in one call of the tool `ask`. */
  questionsMax: 4,
  /** Fields in one elicitation of an MCP server, and options of one field. */
  elicitationFields: 20,
  elicitationChoices: 50,
  questionOptionsMax: 8,
  questionHeaderMax: 60,
  questionTextMax: 1000,
  optionLabelMax: 200,
  optionDescriptionMax: 500,
  answerTextMax: 4000,
  planItemsMax: 50,
  planItemMax: 300,
  toolRulesMax: 200,
  toolPatternMax: 2000,
  /** All names and patterns of one set of rules together. */
  toolRulesTextMax: 32_000,
  pageDefault: 100,
  pageMax: 500,
  sessionDays: 7,
} as const;

/** Ids made by clients (contract.md section 1). */
export const clientIdPattern = /^[A-Za-z0-9_-]{1,128}$/;
