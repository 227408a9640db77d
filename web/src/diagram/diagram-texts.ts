import english from 'virtual:catalogue/en-diagrams';
import { i18n } from '../i18n.ts';

/** Imported by the view of diagrams, which loads on use: its texts come with it. */
i18n.load('en', english);
