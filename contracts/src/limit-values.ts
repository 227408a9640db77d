/**
 * Limits shared by server and browser client (control-plane-api.md "Limits", contract.md). Sizes in bytes, times in
 * milliseconds.
 */

/** Between two events of `GET /api/live/stream`: far more than a network needs, less than anybody minds to wait. */
export const liveStreamPieceMs = 330;
/** The largest JSON body of any endpoint. `maxBodyBytes` in endpoint.ts gives the limit of each. */
export const jsonBodyBytes = 10 * 1024 * 1024;
/** For public endpoints; below it, the default for all others. */
export const publicBodyBytes = 16 * 1024;
export const defaultBodyBytes = 256 * 1024;
/** Fits all headers and tool policies, or both branding images, at their largest. */
export const credentialBodyBytes = 2 * 1024 * 1024;
export const brandingBodyBytes = 4 * 1024 * 1024;
export const manifestBytes = 64 * 1024 * 1024;
export const artifactMaxUploadBytes = 100 * 1024 * 1024;
/** Bounds of the settings of the operation. */
export const uploadBytesMax = 2 ** 40;
export const artifactQuotaMbMax = 1_073_741_824;
export const backupScheduleMax = 64;
export const backupKeepMax = 1_000;
export const auditDaysMin = 30;
export const auditDaysMax = 3_650;
export const nameMin = 2;
export const nameMax = 100;
export const emailMax = 254;
export const passwordMin = 12;
export const passwordMax = 128;
export const titleMax = 200;
export const searchMax = 200;
export const providersPerOwner = 100;
/** People with whom one provider is shared by name. */
export const sharedUsersMax = 1000;
export const namedAdministratorsMax = 3;
export const modelsPerProvider = 1000;
export const providerNameMax = 100;
export const baseUrlMax = 2048;
export const apiKeyMax = 4096;
export const headerCount = 64;
export const headerNameMax = 128;
export const headerValueMax = 8192;
export const firstByteSecondsMin = 10;
export const firstByteSecondsMax = 3600;
export const providerModelIdMax = 256;
export const displayNameMax = 100;
export const contextWindowMax = 100_000_000;
/** Stand-ins of a model. */
export const standInsMax = 3;
export const regionMax = 40;
export const regionsMax = 20;
export const tierCountMax = 32;
export const tierValueMax = 2_147_483_647;
export const tierLabelMax = 40;
export const clientIdMax = 128;
export const effortNameMax = 20;
export const effortsMax = 20;
/** Millionths of a US dollar for 1,000,000 tokens. */
export const priceMax = 1_000_000_000_000;
/** Tokens, or millionths of a US dollar. */
export const budgetMax = 1_000_000_000_000_000;
export const budgetCountMax = 1000;
/** Accounts that one request of an administrator changes. */
export const usersAtOnceMax = 100;
/** A person is active if a session of theirs was used within so many days. */
export const activeDays = 30;
export const usageDaysMax = 400;
export const usageRowsMax = 1000;
export const usageCsvRowsMax = 100_000;
export const registryBytes = 5 * 1024 * 1024;
/** Characters per layer of instructions. */
export const instructionsMax = 16_000;
export const stopTextMax = 200;
export const stopTextsMax = 4;
export const localeMax = 35;
export const timeZoneMax = 64;
/** A temporary conversation is deleted this long after its last use. */
export const temporaryHours = 24;
export const partsPerMessage = 100;
export const messageTextMax = 1_000_000;
/** A whole message with all parts, as JSON. */
export const answerBytes = 8 * 1024 * 1024;
export const queuedInputsPerChat = 50;
/** A conversation that has more than this queued takes no more. */
export const queuedBytesPerChat = 16 * 1024 * 1024;
/** `GET /api/chats/activity` streams that one account may hold open at one replica. */
export const activityStreamsPerUser = 32;
export const mcpServersPerChat = 50;
export const mcpServersPerOwner = 50;
export const mcpOffers = 100;
/** Resources or prompts of one server that are listed. */
export const mcpListed = 1000;
export const mcpUriMax = 2048;
export const mcpPromptArguments = 50;
export const mcpPromptArgumentMax = 16_000;
export const mcpPromptTextMax = 100_000;
export const artifactSourceMax = 2500;
export const mcpOfferDescriptionMax = 300;
export const mcpServerNameMax = 100;
export const mcpToolNameMax = 256;
export const mcpToolsPerServer = 500;
export const mcpVolatileTexts = 100;
export const mcpVolatileTextMax = 500;
export const mcpCommandMax = 4096;
export const mcpArgsMax = 100;
export const mcpArgMax = 4096;
export const mcpEnvMax = 50;
export const mcpEnvNameMax = 128;
export const mcpEnvValueMax = 8192;
export const oauthClientIdMax = 2048;
export const oauthClientSecretMax = 4096;
/** Each member of an authorization server's answer that comes through the browser. */
export const oauthAnswerMax = 4096;
export const returnToMax = 2048;
export const fingerprintMax = 256;
export const projectNameMax = 100;
export const projectMembersMax = 500;
export const projectsPerUser = 500;
export const assistantsPerOwner = 200;
/** Knowledge files of one assistant. */
export const assistantFilesMax = 50;
export const promptsPerOwner = 500;
export const skillsPerOwner = 100;
/** One skill unpacked, in files and bytes, and as it is uploaded. */
export const skillFiles = 200;
export const skillBytes = 4 * 1024 * 1024;
export const skillUploadBytes = 8 * 1024 * 1024;
export const skillPathMax = 200;
/** All skills of one person, and all for everyone. */
export const skillBytesPerOwner = 64 * 1024 * 1024;
export const skillBytesForEveryone = 256 * 1024 * 1024;
/** Assistants for everyone, and as many prompts and skills. */
export const sharedWithEveryoneMax = 1000;
export const assistantNameMax = 100;
export const assistantDescriptionMax = 500;
/** Characters of a data URL: a picture of about 24 kB. */
export const assistantIconMax = 32 * 1024;
export const startersMax = 6;
export const starterMax = 500;
/** The newest versions of an assistant are kept. */
export const versionsKept = 100;
export const versionMax = 2_147_483_647;
export const promptTitleMax = 100;
export const promptTextMax = 16_000;
export const artifactPathMax = 1024;
/** Share links of one person, the people that one is for, and the messages and bytes of its snapshot. */
export const sharesPerOwner = 200;
export const shareUsersMax = 500;
export const shareMessagesMax = 5000;
export const shareSnapshotBytes = 16 * 1024 * 1024;
export const shareFilesMax = 500;
export const sharePasswordMin = 8;
export const sharePasswordMax = 1024;
export const shareTokenMax = 100;
/** Wrong passwords from one address for one share within `sharePasswordMinutes`. */
export const sharePasswordTries = 10;
export const sharePasswordMinutes = 10;
/** The signed address of a file in a share with a password or a narrow audience. */
export const shareFileMinutes = 10;
/** Earlier versions of one artifact that are kept: the newest, and so many bytes. */
export const artifactVersionsKept = 20;
export const artifactVersionBytes = 512 * 1024 * 1024;
/** The daemon accepts 4,095 UTF-8 bytes. */
/** Model requests of programs in a workspace: bytes of one, and per replica how many at once and per hour. */
export const programRequestBytes = 4 * 1024 * 1024;
export const programTextMax = 4 * 1024 * 1024;
export const programPartsMax = 100;
export const programMessagesMax = 1000;
export const programToolsMax = 128;
/** The gateway: bytes of a request without and with its pictures, and per token and replica its calls. */
export const gatewayTextBytes = 4 * 1024 * 1024;
export const gatewayBodyBytes = 32 * 1024 * 1024;
export const gatewayMembersMax = 100;
export const gatewayModelMax = 1000;
export const gatewayKeysMax = 1000;
export const embeddingInputsMax = 2048;
export const gatewayCallsAtOnce = 8;
export const gatewayCallsPerMinute = 600;
export const programCallsAtOnce = 4;
export const programCallsBurst = 60;
export const programCallsPerHour = 600;
export const programCallMinutes = 30;
export const workspacePathMax = 4096;
export const previewPathMax = 2000;
/** Background commands of a workspace that are listed, and bytes of the output of one. */
export const processesShown = 200;
export const processOutputMax = 32 * 1024;
/** Paths of one undo or redo. */
export const changedPathsMax = 1000;
export const importSourceMax = 256;
/** An archive from another application; larger than the limit of a file. */
export const importBytes = 8 * 1024 ** 3;
export const importFilenameMax = 255;
/** Imports of one account that have not ended. */
export const importsOpenPerUser = 5;
export const mediaTypeMax = 255;
export const productNameMax = 60;
export const taglineMax = 140;
/** Characters of a data URL: an image of about 380 kB. */
export const brandingImageMax = 512 * 1024;
export const oidcLabelMax = 60;
/** Age of a session that still counts as a recent sign-in. */
export const recentSignInMinutes = 60;
/** Personal access tokens. */
export const tokensPerUser = 100;
export const tokenNameMax = 64;
export const tokenScopesMax = 20;
export const tokenDaysMax = 3650;
/** The life of a token whose creator says nothing. */
export const tokenDaysDefault = 90;
export const oidcClientIdMax = 512;
export const oidcClientSecretMax = 4096;
export const oidcScopesMax = 512;
export const allowedDomainsMax = 50;
export const invitationHoursMax = 8760;
export const invitationTokenMax = 256;
export const provisionChangesMax = 1000;
export const manifestUsersMax = 10_000;
export const manifestPartsMax = 10_000;
export const approvalReasonMax = 1000;
export const summaryTextMax = 32_000;
export const summaryFocusMax = 1000;
export const delegatesAtOnce = 4;
export const delegatesPerTurn = 20;
export const delegateStepsMax = 100;
export const delegateTaskMax = 50_000;
export const delegateAnswerMax = 30_000;
export const turnStepsMax = 2000;
export const turnMinutesMax = 1440;
export const turnTokensMin = 1000;
export const turnTokensMax = 1_000_000_000;
/** Questions in one call of the tool `ask`. */
export const questionsMax = 4;
/** Fields in one elicitation of an MCP server, and options of one field. */
export const elicitationFields = 20;
export const elicitationChoices = 50;
export const questionOptionsMax = 8;
export const questionHeaderMax = 60;
export const questionTextMax = 1000;
export const optionLabelMax = 200;
export const optionDescriptionMax = 500;
export const answerTextMax = 4000;
export const planItemsMax = 50;
export const planItemMax = 300;
export const toolRulesMax = 200;
export const toolPatternMax = 2000;
/** All names and patterns of one set of rules together. */
export const toolRulesTextMax = 32_000;
export const pageDefault = 100;
export const pageMax = 500;
export const sessionDays = 7;
