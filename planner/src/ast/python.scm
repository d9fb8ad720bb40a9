; What an outline of Python shows. @body is left out of the signature.
(function_definition body: (_) @body) @item
(class_definition body: (_) @body) @item
(type_alias_statement) @item
(module (expression_statement (assignment) @item))
