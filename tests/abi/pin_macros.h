// Comparisons of one of our layouts with somebody else's.
#pragma once

#define SAME_SIZE(ours, theirs) static_assert(sizeof(ours) == sizeof(theirs), #ours " against " #theirs);
#define SAME(ours, field, theirs, their_field)                                                  \
  static_assert(offsetof(ours, field) == offsetof(theirs, their_field) &&                       \
                    sizeof(((ours*)nullptr)->field) == sizeof(((theirs*)nullptr)->their_field), \
                #ours "." #field " against " #theirs "." #their_field);
#define SAME_VALUE(ours, theirs) static_assert(int(ours) == int(theirs), #ours " against " #theirs);
