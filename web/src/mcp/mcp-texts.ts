import english from 'virtual:catalogue/en-mcp';
import { i18n } from '../i18n/i18n.ts';

/** Imported by every part of MCP that is loaded on demand: its texts come with it. */
i18n.load('en', english);
