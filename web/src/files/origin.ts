/** How a file came into a conversation. */
export type Origin = 'attached' | 'published';
