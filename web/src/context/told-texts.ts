import english from 'virtual:catalogue/en-told';
import { i18n } from '../i18n.ts';

/** Imported by everything that loads on use and tells what a model is told: its texts come with it. */
i18n.load('en', english);
