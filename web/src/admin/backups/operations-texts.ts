import english from 'virtual:catalogue/en-operations';
import { i18n } from '../../i18n/i18n.ts';

/** Imported by the page of backups, which loads on use: its texts come with it. */
i18n.load('en', english);
