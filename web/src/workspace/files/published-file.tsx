import type { DynamicToolPart } from '@homeport/contracts/chat/frames';
import { useThreadActions } from '../../conversation/thread-actions.ts';
import { ArtifactChip } from '../../files/attachments/artifact-chip.tsx';
import { readPublished } from '../tool-output.ts';
import classes from './published-file.module.css';

/** A file that a model has published in the conversation; it opens beside it. */
export function PublishedFile({ part }: { part: DynamicToolPart }) {
  const { chatId } = useThreadActions();
  const published = readPublished(part.output, part.input);
  if (!published) return null;
  return (
    <div className={classes.published}>
      <ArtifactChip chatId={chatId} {...published} />
    </div>
  );
}
