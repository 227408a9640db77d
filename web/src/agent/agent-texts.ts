import english from 'virtual:catalogue/en-agent';
import { i18n } from '../i18n/i18n.ts';

/** Imported by every part of plans and questions that is loaded on demand: its texts come with it. */
i18n.load('en', english);
