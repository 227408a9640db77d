import english from 'virtual:catalogue/en-workspace';
import { i18n } from '../i18n/i18n.ts';

/** Imported by everything of workspaces that loads on use: its texts come with it. */
i18n.load('en', english);
