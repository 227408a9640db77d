import english from 'virtual:catalogue/en-pages';
import { i18n } from './i18n.ts';

/** Imported by every page loaded on demand: its texts come with it, not with the first page load. */
i18n.load('en', english);
