import english from 'virtual:catalogue/en-changes';
import { i18n } from '../../i18n/i18n.ts';

/** Imported by what shows an answer's changes: its texts come with it. */
i18n.load('en', english);
