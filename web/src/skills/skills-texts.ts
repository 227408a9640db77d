import '../assistants/assistants-texts.ts';
import '../mcp/mcp-texts.ts';
import english from 'virtual:catalogue/en-skills';
import { i18n } from '../i18n/i18n.ts';

/** Imported by the page of skills: its texts come with it. */
i18n.load('en', english);
