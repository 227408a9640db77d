import type { Chat, Message } from '@homeport/contracts/chat/conversations';
import { useMemo } from 'react';
import { writtenFiles } from '../../conversation/workspace-paths.ts';
import { ConversationFiles } from '../../files/conversation-files.tsx';
import { originsOf } from '../../workspace/files/file-origins.ts';
import { WrittenFiles } from '../../workspace/files/written-files.tsx';

type Props = { chatId: string; chat: Chat | undefined; messages: readonly Message[] };

/** The files of a conversation: attached, published, and written in the workspace. */
export function FilesOfConversation({ chatId, chat, messages }: Props) {
  const origins = useMemo(() => originsOf(messages), [messages]);
  const hasWritten = useMemo(() => writtenFiles(messages).length > 0, [messages]);
  return (
    <ConversationFiles
      chatId={chatId}
      chat={chat}
      origins={origins}
      empty={hasWritten ? <span /> : undefined}
      below={<WrittenFiles chatId={chatId} messages={messages} />}
    />
  );
}
