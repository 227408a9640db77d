// Generated from web/src/locales/en/ by web/build/catalogue-plugin.ts.
import type { texts as admin } from '../locales/en/admin/admin.ts';
import type { texts as audit } from '../locales/en/admin/audit.ts';
import type { texts as backups } from '../locales/en/admin/backups.ts';
import type { texts as invitations } from '../locales/en/admin/invitations.ts';
import type { texts as overview } from '../locales/en/admin/overview.ts';
import type { texts as people } from '../locales/en/admin/people.ts';
import type { texts as singleSignOn } from '../locales/en/admin/single-sign-on.ts';
import type { texts as assistants } from '../locales/en/assistants.ts';
import type { texts as catalogue } from '../locales/en/catalogue.ts';
import type { texts as agent } from '../locales/en/chat/agent.ts';
import type { texts as ask } from '../locales/en/chat/ask.ts';
import type { texts as context } from '../locales/en/chat/context.ts';
import type { texts as conversation } from '../locales/en/chat/conversation.ts';
import type { texts as diagram } from '../locales/en/chat/diagram.ts';
import type { texts as rendered } from '../locales/en/chat/rendered.ts';
import type { texts as waiting } from '../locales/en/chat/waiting.ts';
import type { texts as importExport } from '../locales/en/import-export.ts';
import type { texts as instructions } from '../locales/en/instructions.ts';
import type { texts as main } from '../locales/en/main.ts';
import type { texts as mcp } from '../locales/en/mcp.ts';
import type { texts as pages } from '../locales/en/pages.ts';
import type { texts as palette } from '../locales/en/palette.ts';
import type { texts as projects } from '../locales/en/projects.ts';
import type { texts as rules } from '../locales/en/rules.ts';
import type { texts as shares } from '../locales/en/shares.ts';
import type { texts as skills } from '../locales/en/skills.ts';
import type { texts as tokens } from '../locales/en/tokens.ts';
import type { texts as topics } from '../locales/en/topics.ts';
import type { texts as usage } from '../locales/en/usage.ts';
import type { texts as webSearch } from '../locales/en/web-search.ts';
import type { texts as changes } from '../locales/en/workspace/changes.ts';
import type { texts as files } from '../locales/en/workspace/files.ts';
import type { texts as previews } from '../locales/en/workspace/previews.ts';
import type { texts as workspace } from '../locales/en/workspace/workspace.ts';

/** Id of a text. An unknown one does not compile. */
export type TextId =
  | keyof typeof admin
  | keyof typeof audit
  | keyof typeof backups
  | keyof typeof invitations
  | keyof typeof overview
  | keyof typeof people
  | keyof typeof singleSignOn
  | keyof typeof assistants
  | keyof typeof catalogue
  | keyof typeof agent
  | keyof typeof ask
  | keyof typeof context
  | keyof typeof conversation
  | keyof typeof diagram
  | keyof typeof rendered
  | keyof typeof waiting
  | keyof typeof importExport
  | keyof typeof instructions
  | keyof typeof main
  | keyof typeof mcp
  | keyof typeof pages
  | keyof typeof palette
  | keyof typeof projects
  | keyof typeof rules
  | keyof typeof shares
  | keyof typeof skills
  | keyof typeof tokens
  | keyof typeof topics
  | keyof typeof usage
  | keyof typeof webSearch
  | keyof typeof changes
  | keyof typeof files
  | keyof typeof previews
  | keyof typeof workspace;
