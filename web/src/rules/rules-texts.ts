import english from 'virtual:catalogue/en-rules';
import { i18n } from '../i18n/i18n.ts';

/** Imported by everything of rules, all of which loads on use: its texts come with it. */
i18n.load('en', english);
