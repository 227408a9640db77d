/** Where the scripted model `texts` begins the next text of its answer, which is rendered for itself. */
export const textSeparator = '\n\n=== next text ===\n\n';
