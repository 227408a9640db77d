import english from 'virtual:catalogue/en-moving';
import { i18n } from '../i18n/i18n.ts';

/** Imported by everything that loads on use and shows texts of import, export or deletion: they come with it. */
i18n.load('en', english);
