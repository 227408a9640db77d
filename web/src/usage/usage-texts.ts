import english from 'virtual:catalogue/en-usage';
import { i18n } from '../i18n/i18n.ts';

/** Imported by everything that shows usage or budgets: its texts come with it. */
i18n.load('en', english);
