import english from 'virtual:catalogue/en-catalogue';
import { i18n } from '../i18n/i18n.ts';

/** Imported by everything that loads on use and is about providers or models: its texts come with it. */
i18n.load('en', english);
