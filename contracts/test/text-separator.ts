/** Separator between the texts that the scripted model `texts` streams; each is rendered on its own. */
export const textSeparator = '\n\n=== next text ===\n\n';
