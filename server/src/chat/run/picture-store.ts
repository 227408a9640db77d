import { type FileOwner, type FileStoreDeps, storeFile } from '../tools/stored-file.ts';
import type { StorePicture } from '../turn/answer-extras.ts';

/** Stores pictures that a model makes as files of its conversation; committed when it resolves. */
export function pictureStore(deps: FileStoreDeps, owner: FileOwner): StorePicture {
  return async ({ mediaType, bytes }) => {
    const filename = `picture.${mediaType.replace('image/', '').replace('jpeg', 'jpg')}`;
    try {
      return (await storeFile(deps, owner, { filename, mediaType, bytes })).part;
    } catch (error) {
      deps.log.warn({ cause: error, chatId: owner.chat_id }, 'failed to store a picture of an answer');
      throw error;
    }
  };
}
