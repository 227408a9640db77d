import english from 'virtual:catalogue/en-admin';
import { i18n } from '../i18n/i18n.ts';

/** Imported by the page that contains all of the administration: its texts come with it. */
i18n.load('en', english);
