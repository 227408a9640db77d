import english from 'virtual:catalogue/en-rendered';
import { i18n } from '../i18n/i18n.ts';

/** Imported by the view, which is loaded on demand: its texts come with it. */
i18n.load('en', english);
