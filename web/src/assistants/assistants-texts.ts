import '../instructions/instructions-texts.ts';
import '../frame/projects-texts.ts';
import '../page-texts.ts';
import english from 'virtual:catalogue/en-assistants';
import { i18n } from '../i18n.ts';

/** Imported by every page of assistants and prompts: their texts come with them. */
i18n.load('en', english);
