import english from 'virtual:catalogue/en-projects';
import { i18n } from '../i18n.ts';

/** Imported by everything of projects that loads on use: its texts come with it. */
i18n.load('en', english);
