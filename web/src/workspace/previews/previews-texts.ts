import english from 'virtual:catalogue/en-previews';
import { i18n } from '../../i18n/i18n.ts';

/** Imported by what shows apps of the workspace: its texts come with it. */
i18n.load('en', english);
