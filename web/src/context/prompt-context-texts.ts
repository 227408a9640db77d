import english from 'virtual:catalogue/en-prompt-context';
import { i18n } from '../i18n/i18n.ts';

/** Loads the texts of the prompt context; imported by every lazily loaded module that shows them. */
i18n.load('en', english);
