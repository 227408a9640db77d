import '../instructions/instructions-texts.ts';
import '../layout/records/projects-texts.ts';
import '../i18n/page-texts.ts';
import english from 'virtual:catalogue/en-assistants';
import { i18n } from '../i18n/i18n.ts';

/** Imported by every page of assistants and prompts: their texts come with them. */
i18n.load('en', english);
